package jobrow

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/test/tuitest"
)

func TestATally(t *testing.T) {
	t.Parallel()
	for world, want := range map[string]string{
		"normal":    "33 running, 2 pending, 1 starting, 1 suspended, 1 requeued, 2 ended",
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
			var tally Tally
			for _, row := range RowsOfJobs(snap.Jobs, tuitest.Now, nil) {
				tally.Add(row)
			}
			if diff := cmp.Diff(want, tally.Sentence()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
