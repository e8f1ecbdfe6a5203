package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/podtermination"
)

// LostFromPod describes a lost pod. ok is false if its deletion is not an event, because the pod did not belong to a
// job, the controller stopped it, its node rejected it, or it had succeeded.
func LostFromPod(pod *corev1.Pod, now time.Time) (lost Lost, ok bool) {
	task, index, version, ok := ParsePodIdentity(pod)
	if !ok || IsMarkedOutOfSync(pod) || WasRejectedByNode(pod) {
		return Lost{}, false
	}
	lost = Lost{UID: pod.UID, Name: pod.Name, Task: task, Index: index, Version: version, At: now, Pod: pod}
	switch {
	case WasEvicted(pod):
		if pod.DeletionTimestamp != nil {
			lost.At = podtermination.DeletionRequestedAt(pod)
		}
		return lost, true
	case pod.Status.Phase == corev1.PodFailed:
		lost.At, lost.Failed, lost.Codes = podtermination.FinishTime(pod), true, exitCodes(pod)
		return lost, true
	}
	return Lost{}, false
}
