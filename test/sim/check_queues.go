package sim

import (
	"cmp"
	"maps"
	"slices"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// checkQueueStates checks, at rest, that queues are closed and opened together with their parent, and that no empty
// queue is still closing.
func (w *World) checkQueueStates() {
	for _, name := range slices.Sorted(maps.Keys(w.state.queues)) {
		queue := w.state.queues[name]
		if queue.Status.State == schedulingv1beta1.QueueStateClosing && !w.hasGroups(name) {
			w.fail("queue %s has no PodGroups, but is still %s", name, queue.Status.State)
		}
		parent := w.state.queues[queue.Spec.Parent]
		if parent == nil || parent.Name == keys.RootQueue || queue.Annotations[keys.QueueState] != "" {
			continue
		}
		if isClosed(parent) && !isClosed(queue) {
			w.fail("queue %s is %s, but its parent %s is %s", name, queue.Status.State, parent.Name, parent.Status.State)
		}
		isOpen := parent.Status.State == schedulingv1beta1.QueueStateOpen
		if isOpen && isClosed(queue) && queue.Annotations[keys.ClosedByParent] == "true" {
			w.fail("queue %s was closed with its parent %s and is %s, but the parent is open", name, parent.Name, queue.Status.State)
		}
	}
}

func isClosed(queue *schedulingv1beta1.Queue) bool {
	return queue.Status.State == schedulingv1beta1.QueueStateClosed || queue.Status.State == schedulingv1beta1.QueueStateClosing
}

func (w *World) hasGroups(queue string) bool {
	for _, group := range w.state.groups {
		if cmp.Or(group.Spec.Queue, keys.DefaultQueue) == queue {
			return true
		}
	}
	return false
}
