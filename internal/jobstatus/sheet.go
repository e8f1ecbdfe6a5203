package jobstatus

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Sheet holds a job and the objects that belong to it.
type Sheet struct {
	Job *batchv1alpha1.Job
	// Group is nil if the job has no PodGroup or the PodGroup cannot be read.
	Group *schedulingv1beta1.PodGroup
	// Pods are in the order of SortPods; Events begins with the oldest event. Both may be empty because they have not
	// been read.
	Pods   []*corev1.Pod
	Events []corev1.Event
	// Unreadable is true if the user may not read PodGroups.
	Unreadable bool
}

// FindWaitReason returns the reason why the job is not running, as far as it can be determined from the readable
// objects.
func (s *Sheet) FindWaitReason() Why {
	if s.Unreadable && IsActivePhase(PhaseOrPending(s.Job)) {
		return Why{Code: s.Job.Status.State.Reason, Message: StateMessage(s.Job)}
	}
	why := ExplainJob(s.Job, s.Group)
	if why.Code == string(reason.NoPodRuns) && countsNoPods(s.Job) && len(s.Pods) > 0 {
		why.Message = fmt.Sprintf("the job has started, but its status does not count any pods yet; %s", existenceText(len(s.Pods)))
	}
	return why
}

func existenceText(pods int) string {
	if pods == 1 {
		return "1 exists"
	}
	return fmt.Sprintf("%d exist", pods)
}

// ObjectOf returns a short name for the object that an event is about.
func (s *Sheet) ObjectOf(event *corev1.Event) string {
	about := event.InvolvedObject
	switch {
	case about.UID == s.Job.UID:
		return "job"
	case about.Kind == "PodGroup": // includes the PodGroups of earlier runs
		return "pod group"
	}
	return ShortPod(s.Job.Name, about.Name)
}
