package sim

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// checkStatuses checks, at rest, that the status of every PodGroup and queue agrees with the objects that it counts.
func (w *World) checkStatuses() {
	for _, name := range slices.SortedFunc(maps.Keys(w.state.groups), compareNames) {
		w.checkGroupStatus(name, w.state.groups[name])
	}
	for _, name := range slices.Sorted(maps.Keys(w.state.queues)) {
		w.checkQueueStatus(w.state.queues[name])
	}
}

func (w *World) checkGroupStatus(name types.NamespacedName, group *schedulingv1beta1.PodGroup) {
	counts := map[corev1.PodPhase]int32{}
	for _, pod := range w.state.pods {
		if pod.Namespace == name.Namespace && keys.PodGroupOf(pod.Annotations) == name.Name && pod.DeletionTimestamp == nil {
			counts[pod.Status.Phase]++
		}
	}
	s := &group.Status
	if s.Running != counts[corev1.PodRunning] || s.Succeeded != counts[corev1.PodSucceeded] || s.Failed != counts[corev1.PodFailed] {
		w.fail("PodGroup %s: the status counts %d running, %d succeeded, %d failed, but the pods are %v", group.Name, s.Running, s.Succeeded, s.Failed, counts)
	}
}

func (w *World) checkQueueStatus(queue *schedulingv1beta1.Queue) {
	groups := map[schedulingv1beta1.PodGroupPhase]int32{}
	for _, group := range w.state.groups {
		if cmp.Or(group.Spec.Queue, keys.DefaultQueue) == queue.Name {
			groups[cmp.Or(group.Status.Phase, schedulingv1beta1.PodGroupPending)]++
		}
	}
	s := &queue.Status
	counted := map[schedulingv1beta1.PodGroupPhase]int32{
		schedulingv1beta1.PodGroupPending: s.Pending, schedulingv1beta1.PodGroupInqueue: s.Inqueue, schedulingv1beta1.PodGroupRunning: s.Running,
		schedulingv1beta1.PodGroupUnknown: s.Unknown, schedulingv1beta1.PodGroupCompleted: s.Completed,
	}
	for _, phase := range slices.Sorted(maps.Keys(counted)) {
		if counted[phase] != groups[phase] {
			w.fail("queue %s: the status counts %d PodGroups that are %s, but there are %d", queue.Name, counted[phase], phase, groups[phase])
		}
	}
	if queue.Name == keys.RootQueue {
		return
	}
	if held, told := w.checks.heldBy(queue.Name), s.Allocated.Cpu().MilliValue(); held != told {
		w.fail("queue %s: the status says that pods hold cpu %dm, but they hold %dm", queue.Name, told, held)
	}
}
