package sim

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
)

// checkLeftovers checks, at rest, that ended jobs have no PodGroup, that no pod exceeds the replicas of its task, and that
// every command was carried out.
func (w *World) checkLeftovers() {
	for _, name := range slices.SortedFunc(maps.Keys(w.state.jobs), compareNames) {
		job := w.state.jobs[name]
		if isSettledPhase(job.Status.State.Phase) && w.state.groups[types.NamespacedName{Namespace: name.Namespace, Name: plan.GroupName(job)}] != nil {
			w.fail("job %s is %s, but its PodGroup still exists", job.Name, job.Status.State.Phase)
		}
		for _, pod := range w.pods() {
			if isOwnedBy(pod, job.UID) && !isPlaceOf(pod, job) && !isFinished(pod) {
				w.fail("pod %s is %s, but job %s has fewer replicas", pod.Name, pod.Status.Phase, job.Name)
			}
		}
	}
	for _, o := range w.objectsAt(commandKind, len(w.changes[commandKind])) {
		w.fail("the command %s (%s) was not deleted", o.GetName(), o.(*busv1alpha1.Command).Action)
	}
}
