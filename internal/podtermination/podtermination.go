// Package podtermination determines when a pod was deleted and when and how it ended.
package podtermination

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// DeletionRequestedAt returns the time at which the deletion of a pod was requested, which is its deletion timestamp
// minus its grace period. It returns the zero time if the pod is not being deleted.
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

// FinishTime returns the time at which the last container of a finished pod ended, or the creation time of the pod if
// that time is unknown.
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

// WasDeletedBeforeEnd reports whether the deletion of a finished pod was requested before the pod had finished. The
// exit code of such a pod is not reliable, because a process that received a signal may exit with code 0 although its
// work is incomplete.
func WasDeletedBeforeEnd(pod *corev1.Pod) bool {
	return HasFinished(pod) && pod.DeletionTimestamp != nil && !FinishTime(pod).Before(DeletionRequestedAt(pod))
}

// forAnother separates the name of the scheduler from the cause in the message of an eviction. Pods store such
// messages, so the text must not change.
const forAnother = ": preempting to accommodate another workload: "

// EvictionMessage returns the message of the condition DisruptionTarget of a pod that a scheduler evicts.
func EvictionMessage(scheduler, cause string) string { return scheduler + forAnother + cause }

// EvictionCause returns the cause from a message of the condition DisruptionTarget. A message of another program is
// returned whole.
func EvictionCause(message string) string {
	if _, cause, found := strings.Cut(message, forAnother); found {
		return cause
	}
	return message
}
