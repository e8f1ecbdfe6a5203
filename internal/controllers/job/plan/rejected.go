package plan

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// refusals lists the reasons that a kubelet sets on a pod that it rejects before the pod starts, except for reasons
// that contain the name of a resource.
var refusals = []string{
	"NodeAffinity", "NodeName", "NodePorts", "NodeUnschedulable", "TaintToleration", "NodeShutdown", "InvalidNodeInfo",
	"UnexpectedAdmissionError", "TopologyAffinityError", "SMTAlignmentError", "PodOSSelectorNodeLabelDoesNotMatch", "PodOSNotSupported",
}

// WasRejectedByNode reports whether a node rejected a pod that was bound to it, because another pod took the capacity
// first or because the node had changed. No container of the pod has run. The job is not affected, except that it needs
// another pod in the same place.
func WasRejectedByNode(pod *corev1.Pod) bool {
	why := pod.Status.Reason
	isNotTakenIn := why == nodeEvicted && strings.HasPrefix(pod.Status.Message, notTakenIn)
	isRefusal := isNotTakenIn || slices.Contains(refusals, why) || strings.HasPrefix(why, outOf)
	if pod.Status.Phase != corev1.PodFailed || !isRefusal {
		return false
	}
	begun := func(s corev1.ContainerStatus) bool {
		ranBefore := s.LastTerminationState.Terminated != nil || s.RestartCount > 0
		return ranBefore || s.State.Running != nil || s.State.Terminated != nil
	}
	return !slices.ContainsFunc(pod.Status.ContainerStatuses, begun) && !slices.ContainsFunc(pod.Status.InitContainerStatuses, begun)
}

// mostRefusals is the average number of rejections per pod of the job after which a further rejection counts as a
// failure.
const mostRefusals = 8

// refusalsUsedUp reports whether nodes have rejected pods of the job too often for this to be a coincidence.
func refusalsUsedUp(job *batchv1alpha1.Job) bool {
	return job.Status.RefusedPods >= mostRefusals*max(1, countReplicas(job))
}
