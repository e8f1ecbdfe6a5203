package jobrow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/test/tuitest"
)

// TestAnArrayWithFailedElementsCountsAsFailed verifies that a completed array counts as failed if elements of it
// failed.
func TestAnArrayWithFailedElementsCountsAsFailed(t *testing.T) {
	t.Parallel()
	for failed, want := range map[string]string{"": "0 running, 0 pending, 1 completed", "5,7": "0 running, 0 pending, 1 failed"} {
		job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "sweep", UID: "sweep"}}
		job.Status.State.Phase = batchv1alpha1.Completed
		job.Status.Array = &batchv1alpha1.ArrayStatus{Succeeded: "0-4", Failed: failed}
		snap, err := snapshot.Of(tuitest.Now, job)
		if err != nil {
			t.Fatal(err)
		}
		var tally jobrow.Tally
		tally.Add(jobrow.Row{Job: snap.Jobs[0]})
		if tally.Sentence() != want {
			t.Errorf("failed elements %q: %q, want %q", failed, tally.Sentence(), want)
		}
	}
}

func TestATally(t *testing.T) {
	t.Parallel()
	for world, want := range map[string]string{
		"normal":    "33 running, 2 pending, 1 starting, 1 suspended, 1 requeued, 1 failed, 1 completed",
		"various":   "3 running, 2 pending, 1 held, 1 suspended",
		"own":       "2 running, 2 pending, 1 suspended", // the user cannot see whether one is held
		"forbidden": "0 running, 0 pending",
	} {
		t.Run(world, func(t *testing.T) {
			t.Parallel()
			snap, err := tuitest.SnapshotOfWorld(world)
			if err != nil {
				t.Fatal(err)
			}
			var tally jobrow.Tally
			for _, row := range jobrow.RowsOfJobs(snap.Jobs, tuitest.Now, nil) {
				tally.Add(row)
			}
			if diff := cmp.Diff(want, tally.Sentence()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
