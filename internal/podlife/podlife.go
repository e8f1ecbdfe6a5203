// Package podlife reads from a pod when its life was ended, and by whom.
package podlife

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// ToldToGo is when a pod was told to go: its deletion time less the grace it was given. Zero: it was not.
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

// FinishedAt is when the last container of a finished pod ended; without that, when the pod was made.
func FinishedAt(pod *corev1.Pod) time.Time {
	at := pod.CreationTimestamp.Time
	for i := range pod.Status.ContainerStatuses {
		if t := pod.Status.ContainerStatuses[i].State.Terminated; t != nil && t.FinishedAt.After(at) {
			at = t.FinishedAt.Time
		}
	}
	return at
}

// Finished says whether a pod's containers have ended for good, for whatever reason.
func Finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Killed says whether a finished pod was told to go before it had finished. What its process made of the signal says nothing of
// its work: one that exits with 0 has not done it.
func Killed(pod *corev1.Pod) bool {
	return Finished(pod) && pod.DeletionTimestamp != nil && !FinishedAt(pod).Before(ToldToGo(pod))
}
