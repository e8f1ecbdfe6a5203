package jobstatus

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

func TestExplanationIsPrintedCompletely(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	cpu := func(n string) corev1.ResourceList { return corev1.ResourceList{"cpu": resource.MustParse(n)} }
	w := reasonFromExplanation(&schedulingv1beta1.Explanation{
		Reason: "GangDoesNotFit", Since: &at, EstimatedStart: &at, Estimate: "by the time limits", Attempts: 3, LastAttempt: &at,
		Queue: &schedulingv1beta1.ExplainedQueue{
			Name: "leaf", Position: 2, Waiting: 5, Allocated: cpu("1"), Deserved: cpu("2"), Guarantee: cpu("1"), Capability: cpu("4"),
			Path: []schedulingv1beta1.ExplainedLevel{{Name: "root"}, {Name: "team", Allocated: cpu("6"), Capability: cpu("8")}},
		},
		Helps: []schedulingv1beta1.Help{{Kind: "Wait", Text: "it starts by itself"}},
	})
	want := []string{
		"queue leaf, position 2 of 5; allocated cpu 1; deserved cpu 2; guarantee cpu 1; capability cpu 4",
		"parent queue team; allocated cpu 6; capability cpu 8",
		"estimated start: 2026-01-02T03:04:05Z, by the time limits",
		"waiting for this reason since 2026-01-02T03:04:05Z, tried 3 times, last at 2026-01-02T03:04:05Z",
	}
	if diff := cmp.Diff(want, w.Numbers); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"it starts by itself"}, w.Helps); diff != "" {
		t.Errorf("helps (-want +got):\n%s", diff)
	}
	unknown := reasonFromExplanation(&schedulingv1beta1.Explanation{Reason: "NoNodes", Estimate: "unknown: nothing runs"})
	if diff := cmp.Diff([]string{"estimated start unknown: nothing runs"}, unknown.Numbers); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
}

func TestAJobThatAPolicyEndedTellsItsFailure(t *testing.T) {
	t.Parallel()
	job := &batchv1alpha1.Job{}
	job.Status.State = batchv1alpha1.JobState{Phase: batchv1alpha1.Terminated, Reason: "TerminateJob", Message: "pod j-head-0 failed with exit code 143"}
	if w := ExplainJob(job, nil); w.CodeAndMessage() != "TerminateJob: pod j-head-0 failed with exit code 143" {
		t.Errorf("no failure is known: %s", w.CodeAndMessage())
	}
	job.Status.Failure = &batchv1alpha1.JobFailure{Reason: "DeadlineExceeded", Message: "head-0 exceeded its time limit of 60s"}
	if w := ExplainJob(job, nil); w.CodeAndMessage() != "DeadlineExceeded: head-0 exceeded its time limit of 60s" {
		t.Errorf("it exceeded its time limit: %s", w.CodeAndMessage())
	}
}

func TestEventsOfEarlierPodGroupsAreAboutAPodGroup(t *testing.T) {
	t.Parallel()
	s := &Sheet{Job: &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "train", UID: "u"}}}
	event := &corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "PodGroup", Name: "train-u", UID: "gone"}}
	if got := s.ObjectOf(event); got != "pod group" {
		t.Errorf("got %s", got)
	}
}

// TestWhyThereAreTooFewPods verifies that failed creations of pods take precedence over the scheduler's reason that
// there are too few pods.
func TestWhyThereAreTooFewPods(t *testing.T) {
	t.Parallel()
	job, group := &batchv1alpha1.Job{}, &schedulingv1beta1.PodGroup{}
	job.Status.State = batchv1alpha1.JobState{Phase: batchv1alpha1.Pending}
	group.Status.Explanation = &schedulingv1beta1.Explanation{Reason: "NotEnoughPods", Message: "0 of 1"}
	if w := ExplainJob(job, group); w.CodeAndMessage() != "NotEnoughPods: 0 of 1" || !w.Explained {
		t.Errorf("the controller says nothing: %+v", w)
	}
	job.Status.State.Reason, job.Status.State.Message = "FailedCreate", "pods is forbidden:\nno PriorityClass with name nosuch was found"
	a := NewReport(&Sheet{Job: job, Group: group})
	if a.Why.CodeAndMessage() != "FailedCreate: pods is forbidden: no PriorityClass with name nosuch was found" || a.Why.Hint == "" || a.Source != byController {
		t.Errorf("the controller could make no pod: %+v, by %s", a.Why, a.Source)
	}
	group.Status.Explanation.Reason = "GangDoesNotFit"
	if w := ExplainJob(job, group); !w.Explained {
		t.Errorf("the gang does not fit: %+v", w)
	}
}
