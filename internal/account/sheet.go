package account

import (
	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Sheet is all that is known about one job.
type Sheet struct {
	Job *batchv1alpha1.Job
	// Group is nil when the job has none, or when it may not be read.
	Group *schedulingv1beta1.PodGroup
	// Pods are in the order of SortPods, Events oldest first; both may be unknown.
	Pods   []*corev1.Pod
	Events []corev1.Event
	// Unreadable says that PodGroups may not be read.
	Unreadable bool
}

// Cause is the reason, as far as it may be known.
func (s *Sheet) Cause() Why {
	if s.Unreadable && Active(Phase(s.Job)) {
		return Why{Code: s.Job.Status.State.Reason, Message: s.Job.Status.State.Message}
	}
	return Explain(s.Job, s.Group)
}

// ObjectOf names what an event is about, as short as the job allows.
func (s *Sheet) ObjectOf(event *corev1.Event) string {
	about := event.InvolvedObject
	switch {
	case about.UID == s.Job.UID:
		return "job"
	case s.Group != nil && about.UID == s.Group.UID:
		return "pod group"
	}
	return ShortPod(s.Job.Name, about.Name)
}
