package jobstatus

import (
	"testing"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// TestRestartsDoNotCountTheLastFailure covers all counts of a job with two runs: it restarts once.
func TestRestartsDoNotCountTheLastFailure(t *testing.T) {
	for _, c := range []struct {
		maxRetry, retries, byUser int32
		want                      string
	}{
		{2, 0, 0, "0 of at most 1"},
		{2, 1, 0, "1 of at most 1"},
		{2, 2, 0, "1 of at most 1"}, // the second run failed, too
		{2, 2, 1, "1 of at most 1, plus 1 by a user"},
		{1, 1, 0, "0 of at most 0"},
		{0, 3, 0, "2 of at most 2"}, // 0 means 3
	} {
		job := &batchv1alpha1.Job{Spec: batchv1alpha1.JobSpec{MaxRetry: c.maxRetry}}
		job.Status.RetryCount, job.Status.UserRestarts = c.retries, c.byUser
		if got := RestartsText(job); got != c.want {
			t.Errorf("maxRetry %d, retryCount %d, by a user %d: %q, want %q", c.maxRetry, c.retries, c.byUser, got, c.want)
		}
	}
}
