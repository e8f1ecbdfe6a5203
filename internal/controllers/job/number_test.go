package job

import (
	"testing"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// TestAJobWithoutANumberIsNotHeldUp lets the allocation of numbers fail. The job continues, the allocation is tried again
// after a minute and not at each change of the job, and the job then gets its number.
func TestAJobWithoutANumberIsNotHeldUp(t *testing.T) {
	t.Parallel()
	const failures = 100
	w, ids := newWorld(simpleJob(1)), &counter{failing: failures}
	w.ids = ids
	w.start()
	reconcile := func() {
		t.Helper()
		for range 5 {
			w.seeAll()
			if err := w.reconcile(-1, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	reconcile()
	if tries := failures - ids.failing; tries != 1 {
		t.Errorf("a number was requested %d times at once, want 1", tries)
	}
	if w.group() == "" {
		t.Error("the job has no PodGroup")
	}
	ids.failing = 0
	w.clock = w.clock.Add(unnumbered)
	reconcile()
	if id, ok := batchv1alpha1.JobID(w.truth()); !ok || id != 1 {
		t.Errorf("the job has number %d, %v, want 1", id, ok)
	}
}
