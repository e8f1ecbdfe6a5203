// Package podtermination determines when a pod was deleted and when and how it ended.
package podtermination

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// ToldToGo returns when the deletion of a pod was requested: its deletion timestamp minus its grace period. It returns
// zero if the pod is not being deleted.
func ToldToGo(pod *corev1.Pod) time.Time {
	if pod.DeletionTimestamp == nil {
		return time.Time{}
	}
	at := pod.DeletionTimestamp.Time
	if grace := pod.DeletionGracePeriodSeconds; grace != nil {
		at = at.Add(-time.Duration(*grace) * time.Second)
	}
	return at
}

// FinishedAt returns when the last container of a finished pod ended, or the creation time of the pod if that is
// unknown.
func FinishedAt(pod *corev1.Pod) time.Time {
	at := pod.CreationTimestamp.Time
	for i := range pod.Status.ContainerStatuses {
		if t := pod.Status.ContainerStatuses[i].State.Terminated; t != nil && t.FinishedAt.After(at) {
			at = t.FinishedAt.Time
		}
	}
	return at
}

// Finished reports whether all containers of a pod have ended for good, with success or failure.
func Finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Killed reports whether a finished pod was deleted before it had finished. The exit code of a process that was sent a
// signal says nothing about its work: with code 0 the work may still be incomplete.
func Killed(pod *corev1.Pod) bool {
	return Finished(pod) && pod.DeletionTimestamp != nil && !FinishedAt(pod).Before(ToldToGo(pod))
}
