package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// entered adds the phases that a job entered some minutes before noon, oldest first.
func entered(job *batchv1alpha1.Job, phases map[int]batchv1alpha1.JobPhase) {
	for minute := 60; minute > 0; minute-- {
		if phase, ok := phases[minute]; ok {
			at := metav1.NewTime(noon.Add(-time.Duration(minute) * time.Minute))
			job.Status.Conditions = append(job.Status.Conditions, batchv1alpha1.JobCondition{Status: phase, LastTransitionTime: &at})
			job.Status.State.LastTransitionTime = at
		}
	}
}

func TestARestartRecordsTheAttemptBeforeIt(t *testing.T) {
	t.Parallel()
	minutesBefore := func(minutes int) *metav1.Time {
		at := metav1.NewTime(noon.Add(-time.Duration(minutes) * time.Minute))
		return &at
	}
	seven := int32(7)
	for name, test := range map[string]struct {
		story *story
		want  batchv1alpha1.JobAttempt
	}{
		"a pod failed": {
			story: given(batchv1alpha1.Running).policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartJobAction).
				with(func(j *batchv1alpha1.Job) {
					entered(j, map[int]batchv1alpha1.JobPhase{9: batchv1alpha1.Running})
				}).
				pod("w", 0, corev1.PodRunning, onNode("n2")).pod("w", 1, corev1.PodFailed, onNode("n1"), ended(7, 0)),
			want: batchv1alpha1.JobAttempt{
				StartTime: minutesBefore(9), EndTime: metav1.NewTime(noon), Phase: batchv1alpha1.Restarting, Nodes: []string{"n1", "n2"},
				Failure: &batchv1alpha1.JobFailure{Reason: "PodFailed", ExitCode: &seven},
			},
		},
		"a user restarted a job that has not run since its last restart": {
			story: given(batchv1alpha1.Pending).command(busv1alpha1.RestartJobAction).with(func(j *batchv1alpha1.Job) {
				j.Status.RetryCount, j.Status.UserRestarts = 1, 1
				j.Status.Attempts = []batchv1alpha1.JobAttempt{{Number: 0}, {Number: 1}}
				entered(j, map[int]batchv1alpha1.JobPhase{9: batchv1alpha1.Running, 5: batchv1alpha1.Restarting, 4: batchv1alpha1.Pending})
			}),
			want: batchv1alpha1.JobAttempt{Number: 2, EndTime: metav1.NewTime(noon), Phase: batchv1alpha1.Restarting},
		},
		"a user resumed a suspended job": {
			story: given(batchv1alpha1.Aborted).command(busv1alpha1.ResumeJobAction).with(func(j *batchv1alpha1.Job) {
				j.Status.Nodes = []batchv1alpha1.JobNode{{Name: "n3", Tasks: map[string]string{"w": "0-1"}}}
				entered(j, map[int]batchv1alpha1.JobPhase{9: batchv1alpha1.Running, 5: batchv1alpha1.Aborting, 4: batchv1alpha1.Aborted})
			}),
			want: batchv1alpha1.JobAttempt{StartTime: minutesBefore(9), EndTime: *minutesBefore(4), Phase: batchv1alpha1.Aborted, Nodes: []string{"n3"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.story.Input)
			for _, w := range p.Writes {
				status, ok := w.(WriteStatus)
				if !ok {
					continue
				}
				attempts := status.Status.Attempts
				if len(attempts) == 0 {
					t.Fatal("no attempt was recorded")
				}
				got := attempts[len(attempts)-1]
				got.Message = ""
				if got.Failure != nil {
					got.Failure.Message = ""
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				return
			}
			t.Error("the plan does not write the status")
		})
	}
}

func TestOnlyTheLatestAttemptsAreKept(t *testing.T) {
	t.Parallel()
	s := given(batchv1alpha1.Running).command(busv1alpha1.RestartJobAction).with(func(j *batchv1alpha1.Job) {
		j.Status.UserRestarts = 20
		for number := range int32(batchv1alpha1.MaxStatusAttempts) {
			j.Status.Attempts = append(j.Status.Attempts, batchv1alpha1.JobAttempt{Number: number + 12})
		}
	})
	for _, w := range Compute(s.Input).Writes {
		if status, ok := w.(WriteStatus); ok {
			attempts := status.Status.Attempts
			if len(attempts) != batchv1alpha1.MaxStatusAttempts || attempts[0].Number != 13 || attempts[len(attempts)-1].Number != 20 {
				t.Errorf("attempts %+v", attempts)
			}
			return
		}
	}
	t.Error("the plan does not write the status")
}

func TestTheLastFailureThatMaxRetryPermitsIsNotAnEarlierAttempt(t *testing.T) {
	t.Parallel()
	s := given(batchv1alpha1.Running).policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartJobAction).
		with(func(j *batchv1alpha1.Job) { j.Spec.MaxRetry, j.Status.RetryCount = 2, 1 }).
		pod("w", 0, corev1.PodRunning, onNode("n2")).pod("w", 1, corev1.PodFailed, onNode("n1"), ended(7, 0))
	for _, w := range Compute(s.Input).Writes {
		if status, ok := w.(WriteStatus); ok {
			if len(status.Status.Attempts) > 0 || status.Status.RetryCount != 2 {
				t.Errorf("retry count %d, attempts %+v", status.Status.RetryCount, status.Status.Attempts)
			}
			return
		}
	}
	t.Error("the plan does not write the status")
}
