package plan

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// TestPodsOfAnEndedJobAreReadAgainBeforeTheyAreStopped verifies that a new process whose list of pods may be outdated
// does not delete a pod that has ended in the meantime.
func TestPodsOfAnEndedJobAreReadAgainBeforeTheyAreStopped(t *testing.T) {
	in := given(batchv1alpha1.Completed).task("w", 1).pod("w", 0, corev1.PodRunning)
	in.Doubt = true
	if p := Compute(in.Input); !p.Refresh || len(p.Writes) > 0 {
		t.Errorf("from a list that may be outdated: refresh %v, %v", p.Refresh, digest(&p))
	}
	in.Fresh = true
	if p := Compute(in.Input); p.Refresh || !slices.Contains(digest(&p), "delete w-0") {
		t.Errorf("from a current list: refresh %v, %v", p.Refresh, digest(&p))
	}
	done := given(batchv1alpha1.Completed).task("w", 1).pod("w", 0, corev1.PodSucceeded)
	done.Doubt = true
	if p := Compute(done.Input); p.Refresh || slices.Contains(digest(&p), "delete w-0") {
		t.Errorf("without a live pod: refresh %v, %v", p.Refresh, digest(&p))
	}
}
