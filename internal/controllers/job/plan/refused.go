package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
)

// refusals lists the reasons that a kubelet sets on a pod that it rejects before the pod starts, except for reasons
// that contain the name of a resource.
var refusals = []string{
	"NodeAffinity", "NodeName", "NodePorts", "NodeUnschedulable", "TaintToleration", "NodeShutdown", "InvalidNodeInfo",
	"UnexpectedAdmissionError", "TopologyAffinityError", "SMTAlignmentError", "PodOSSelectorNodeLabelDoesNotMatch", "PodOSNotSupported",
}

const (
	// outOf is the prefix of the reasons that contain the name of a resource: OutOfcpu, OutOfpods,
	// OutOfnvidia.com/gpu.
	outOf = "OutOf"
	// notTakenIn is the prefix of the message with which a node under pressure rejects a new pod. A running pod that
	// the node evicts has another message.
	notTakenIn = "Pod was rejected"
)

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

// mostRefusals is the average number of rejections per pod of the job from which on a rejection counts as a failure.
const mostRefusals = 8

// refusalsUsedUp reports whether nodes have rejected pods of the job too often for this to be a coincidence.
func refusalsUsedUp(job *batchv1alpha1.Job) bool {
	return job.Status.RefusedPods >= mostRefusals*max(1, countReplicas(job))
}

// recreationDelay returns how long a rejected pod is kept before it is re-created. The wait increases with the number
// of rejections.
func recreationDelay(job *batchv1alpha1.Job) time.Duration {
	rounds := job.Status.RefusedPods / max(1, countReplicas(job))
	if rounds == 0 {
		return 0
	}
	return min(time.Second<<rounds, time.Minute)
}

// retryRefused marks the rejected pods whose wait is over. They are stopped and then re-created.
func (b *builder) retryRefused() {
	wait := recreationDelay(b.job)
	var first *member
	for i := range b.census.members {
		m := &b.census.members[i]
		if !m.refused || m.gone || m.stop {
			continue
		}
		if left := refusalTime(m.pod).Add(wait).Sub(b.in.Now); left > 0 {
			b.requestPlanAfter(left)
			b.refusal = &obstacle{string(reason.PodRefused), b.causeOfMember(m).text + "; it will be re-created shortly"}
			continue
		}
		m.stop, m.stopMark = true, true
		b.refused++
		if first == nil || cmp.Or(cmp.Compare(m.place.Task, first.place.Task), cmp.Compare(m.place.Index, first.place.Index)) < 0 {
			first = m
		}
	}
	if first == nil {
		return
	}
	text := b.causeOfMember(first).text + "; it is made again"
	if b.refused > 1 {
		text += fmt.Sprintf(", and %d more", b.refused-1)
	}
	b.appendEvent(corev1.EventTypeWarning, string(reason.PodRefused), "%s", text)
}

func causeOfRefusal(name string, pod *corev1.Pod) Cause {
	return Cause{code: reason.PodRefused, text: fmt.Sprintf("%s was rejected by its node (%s)%s", name, pod.Status.Reason, messageSuffix(pod.Status.Message))}
}

// refusalTime returns the time when a node rejected a pod, or the pod's creation time if the node has not set a time.
func refusalTime(pod *corev1.Pod) time.Time {
	if pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return pod.CreationTimestamp.Time
}
