package listrow

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/state"
)

func TestAnAttemptEndsInTheStateOfItsPhaseOrFailure(t *testing.T) {
	t.Parallel()
	for want, attempt := range map[state.Code]batchv1alpha1.JobAttempt{
		state.Completed:   {Phase: batchv1alpha1.Completed},
		state.Cancelled:   {Phase: batchv1alpha1.Terminated},
		state.Suspended:   {Phase: batchv1alpha1.Aborted},
		state.Requeued:    {Phase: batchv1alpha1.Restarting},
		state.OutOfMemory: {Phase: batchv1alpha1.Restarting, Failure: &batchv1alpha1.JobFailure{Reason: "OOMKilled"}},
		state.Failed:      {Phase: batchv1alpha1.Failed, Failure: &batchv1alpha1.JobFailure{Reason: "ANewReason"}},
	} {
		if got := CodeOfAttempt(&attempt); got != want {
			t.Errorf("%s %v: %s, want %s", attempt.Phase, attempt.Failure, got, want)
		}
	}
}

func TestAttemptsOfAnArrayAreRowsOfItsElements(t *testing.T) {
	t.Parallel()
	job := &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "sweep", Labels: map[string]string{keys.JobID: "42"}, Annotations: map[string]string{keys.Array: "0,4,8"}},
		Spec:       batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Name: "head", Replicas: 3}}},
		Status:     batchv1alpha1.JobStatus{UserRestarts: 2},
	}
	end := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	rows := AttemptRows(&Source{Job: job, Now: end}, []Attempt{
		{Number: 0, Element: -1, Code: state.Requeued, End: end}, {Number: 1, Element: 8, Code: state.Failed, End: end, Nodes: []string{"n1"}},
	})
	var got []string
	for i := range rows {
		got = append(got, rows[i].DisplayID(0)+" "+rows[i].RawID()+" "+rows[i].NodeList())
	}
	if diff := cmp.Diff([]string{"42_[0,4,8] 42 ", "42_8 44 n1"}, got); diff != "" {
		t.Error(diff)
	}
}
