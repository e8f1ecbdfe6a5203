package account

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Stays returns the reason why a drain leaves a pod on its node; "" if the drain evicts it.
func Stays(pod *corev1.Pod) string {
	owner := metav1.GetControllerOf(pod)
	switch {
	case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return "has ended"
	case pod.Annotations[corev1.MirrorPodAnnotationKey] != "":
		return "belongs to the node itself"
	case owner != nil && owner.Kind == "DaemonSet":
		return "is of a DaemonSet"
	case pod.DeletionTimestamp != nil:
		return "is leaving already"
	}
	return ""
}
