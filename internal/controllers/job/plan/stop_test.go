package plan

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
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

// TestPodsOfACancelledElementAreReadAgainBeforeTheyAreStopped verifies the same for an array with a limit, which also
// requires a current list before it creates pods.
func TestPodsOfACancelledElementAreReadAgainBeforeTheyAreStopped(t *testing.T) {
	in := array("0-9").asks(keys.ArrayLimit, "3").asks(keys.ArrayCancelled, "1,4-9").
		pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodRunning).pod("w", 2, corev1.PodRunning).pod("w", 3, corev1.PodRunning)
	in.Doubt = true
	if p := Compute(in.Input); !p.Refresh || len(p.Writes) > 0 {
		t.Errorf("from a list that may be outdated: refresh %v, %v", p.Refresh, digest(&p))
	}
	in.Fresh = true
	if p := Compute(in.Input); p.Refresh || !slices.Contains(digest(&p), "delete w-1") {
		t.Errorf("from a current list: refresh %v, %v", p.Refresh, digest(&p))
	}
}

// TestARestartIsNotCompletedFromAnOutdatedList verifies that a new process reads commands again before a job leaves phase
// Restarting. Otherwise, the command that caused the restart could appear later and restart the job again.
func TestARestartIsNotCompletedFromAnOutdatedList(t *testing.T) {
	in := given(batchv1alpha1.Restarting).task("w", 1)
	in.Doubt = true
	if p := Compute(in.Input); !p.Refresh || len(p.Writes) > 0 {
		t.Errorf("from a list that may be outdated: refresh %v, %v", p.Refresh, digest(&p))
	}
	in.Fresh = true
	if p := Compute(in.Input); p.Refresh || len(p.Writes) == 0 {
		t.Errorf("from a current list: refresh %v, %v", p.Refresh, digest(&p))
	}
}

// TestAnEndingJobDoesNotEndFromAnOutdatedList verifies that a new process reads the pods again before it reports that all of
// them have ended. An outdated list may be older than the pods.
func TestAnEndingJobDoesNotEndFromAnOutdatedList(t *testing.T) {
	for _, phase := range []batchv1alpha1.JobPhase{batchv1alpha1.Aborting, batchv1alpha1.Completing, batchv1alpha1.Terminating} {
		in := given(phase).task("w", 1)
		in.Doubt = true
		if p := Compute(in.Input); !p.Refresh || len(p.Writes) > 0 {
			t.Errorf("%s, from a list that may be outdated: refresh %v, %v", phase, p.Refresh, digest(&p))
		}
		in.Fresh = true
		if p := Compute(in.Input); p.Refresh || len(p.Writes) == 0 {
			t.Errorf("%s, from a current list: refresh %v, %v", phase, p.Refresh, digest(&p))
		}
	}
}
