package plan

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
)

const (
	// outOf is the prefix of the reasons that contain the name of a resource: OutOfcpu, OutOfpods,
	// OutOfnvidia.com/gpu.
	outOf = "OutOf"
	// notTakenIn is the prefix of the message with which a node under pressure rejects a new pod. A running pod that
	// the node evicts has another message.
	notTakenIn = "Pod was rejected"
)

// recreationDelay returns how long a rejected pod is kept before it is re-created. The delay increases with the number
// of rejections.
func recreationDelay(job *batchv1alpha1.Job) time.Duration {
	rounds := job.Status.RefusedPods / max(1, countReplicas(job))
	if rounds == 0 {
		return 0
	}
	return min(time.Second<<rounds, time.Minute)
}

// retryRefused marks the rejected pods whose delay has passed. They are stopped and then re-created.
func (b *builder) retryRefused() {
	wait := recreationDelay(b.job)
	var first *member
	for _, m := range b.census.members {
		if !m.refused || m.gone || m.stop {
			continue
		}
		if left := refusalTime(m.pod).Add(wait).Sub(b.in.Now); left > 0 {
			b.requestPlanAfter(left)
			b.refusal = &obstacle{string(reason.PodRefused), b.causeOfMember(m).text + "; the pod will be re-created shortly"}
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
	text := b.causeOfMember(first).text + "; the pod will be re-created"
	if b.refused > 1 {
		text += fmt.Sprintf(", and %d more", b.refused-1)
	}
	b.appendEvent(corev1.EventTypeWarning, string(reason.PodRefused), "%s", text)
}

// refusalTime returns the time when a node rejected a pod, or the pod's creation time if the node has not set a time.
func refusalTime(pod *corev1.Pod) time.Time {
	if pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return pod.CreationTimestamp.Time
}
