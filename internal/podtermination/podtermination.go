// Package podtermination determines when a pod was deleted and when and how it ended.
package podtermination

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// DeletionRequestedAt returns when the deletion of a pod was requested: its deletion timestamp minus its grace period.
// It returns zero if the pod is not being deleted.
func DeletionRequestedAt(pod *corev1.Pod) time.Time {
	if pod.DeletionTimestamp == nil {
		return time.Time{}
	}
	at := pod.DeletionTimestamp.Time
	if grace := pod.DeletionGracePeriodSeconds; grace != nil {
		at = at.Add(-time.Duration(*grace) * time.Second)
	}
	return at
}

// FinishTime returns when the last container of a finished pod ended, or the creation time of the pod if that is
// unknown.
func FinishTime(pod *corev1.Pod) time.Time {
	at := pod.CreationTimestamp.Time
	for i := range pod.Status.ContainerStatuses {
		if t := pod.Status.ContainerStatuses[i].State.Terminated; t != nil && t.FinishedAt.After(at) {
			at = t.FinishedAt.Time
		}
	}
	return at
}

// HasFinished reports whether all containers of a pod have ended for good, with success or failure.
func HasFinished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// WasDeletedBeforeEnd reports whether a finished pod was deleted before it had finished. The exit code of a process
// that was sent a signal says nothing about its work: with code 0 the work may still be incomplete.
func WasDeletedBeforeEnd(pod *corev1.Pod) bool {
	return HasFinished(pod) && pod.DeletionTimestamp != nil && !FinishTime(pod).Before(DeletionRequestedAt(pod))
}
