package jobstatus

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"slices"
)

// StaysDuringDrain reports whether a drain leaves a pod on its node because the pod has ended or belongs to a DaemonSet
// or to the node itself. It is an estimate for display; clusterops.Drain makes the actual decision.
func StaysDuringDrain(pod *corev1.Pod) bool {
	return HasPodEnded(pod) || pod.Annotations[corev1.MirrorPodAnnotationKey] != "" || isOfDaemonSet(pod)
}

// HasPodEnded reports whether the containers of a pod have ended for good.
func HasPodEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func isOfDaemonSet(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner != nil && owner.Kind == "DaemonSet" && owner.APIVersion == appsv1.SchemeGroupVersion.String()
}

// KeepsLocalData reports whether a pod has data that is lost when it leaves its node: an emptyDir volume.
func KeepsLocalData(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.EmptyDir != nil })
}
