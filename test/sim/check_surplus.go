package sim

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// maxSurplusTime is how long a pod that exceeds the replicas of its task may remain without being deleted.
const maxSurplusTime = 2 * time.Minute

// checkSurplus checks, after faults have stopped, that pods which exceed the replicas of their task are deleted within
// minutes. Ended jobs keep their ended pods.
func (w *World) checkSurplus() {
	if !w.calm {
		return
	}
	for _, pod := range w.pods() {
		owner := metav1.GetControllerOf(pod)
		if owner == nil || owner.Kind != jobKind.Kind {
			continue
		}
		job := w.state.jobs[types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name}]
		isOwnerActive := job != nil && job.UID == owner.UID && isActivePhase(job.Status.State.Phase)
		isSurplus := isOwnerActive && !isPlaceOf(pod, job) && pod.DeletionTimestamp == nil
		since, known := w.checks.surplus[pod.UID]
		switch {
		case !isSurplus:
			delete(w.checks.surplus, pod.UID)
		case !known:
			w.checks.surplus[pod.UID] = w.now
		case w.now.Sub(since) > maxSurplusTime:
			w.fail("pod %s is %s and was not deleted for %s, although job %s, which is %s, has fewer replicas", pod.Name, pod.Status.Phase, maxSurplusTime,
				job.Name, job.Status.State.Phase)
		}
	}
}
