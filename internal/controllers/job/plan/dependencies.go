package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// IsGroupAdmitted reports whether the scheduler has admitted the group to its queue.
func IsGroupAdmitted(group *schedulingv1beta1.PodGroup) bool {
	return group.Status.Phase != "" && group.Status.Phase != schedulingv1beta1.PodGroupPending
}

// mayTaskHavePods reports whether a task may have pods now, or has some already.
func (b *builder) mayTaskHavePods(task int) bool {
	isPodOfTask := func(m *member) bool { return m.place.Task == task && m.inRange && !m.gone }
	return b.dependenciesMet(task) || slices.ContainsFunc(b.census.members, isPodOfTask)
}

// dependenciesMet reports whether the tasks that a task depends on are ready. All of them must be ready, unless the
// iteration is any; in that case, one is enough.
func (b *builder) dependenciesMet(task int) bool {
	d := b.job.Spec.Tasks[task].DependsOn
	if d == nil || len(d.Name) == 0 {
		return true
	}
	met := 0
	for _, name := range d.Name {
		if b.isTaskReady(b.findTaskIndex(name)) {
			met++
		}
	}
	if d.Iteration == batchv1alpha1.IterationAny && len(d.Name) > 1 {
		return met > 0
	}
	return met == len(d.Name)
}

// isTaskReady reports whether a task has at least minAvailable pods that have succeeded or are running with all
// containers ready. A task without minAvailable is always ready, and a missing task never.
func (b *builder) isTaskReady(task int) bool {
	if task < 0 {
		return false
	}
	var n int32
	for m := range b.census.inRange() {
		if m.place.Task != task || !willPodRemain(m) {
			continue
		}
		if m.podPhaseOf() == corev1.PodSucceeded || (m.podPhaseOf() == corev1.PodRunning && containersReady(m.pod)) {
			n++
		}
	}
	n += b.countRecorded(task).succeeded
	least := b.job.Spec.Tasks[task].MinAvailable
	return least == nil || n >= *least
}

func containersReady(pod *corev1.Pod) bool {
	for i := range pod.Status.ContainerStatuses {
		if !pod.Status.ContainerStatuses[i].Ready {
			return false
		}
	}
	return len(pod.Status.ContainerStatuses) > 0
}
