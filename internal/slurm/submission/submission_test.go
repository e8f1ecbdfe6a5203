package submission

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

func TestWhatWasAskedForIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	job := &batchv1alpha1.Job{}
	if IsFromSlurm(job) {
		t.Error("made by nobody")
	}
	want := Options{Account: "nlp", Tasks: 8, MemPerNode: 4096, StdOut: "/home/mei/slurm-%j.out"}
	StoreOptions(job, want)
	if diff := cmp.Diff(want, OptionsOf(job)); diff != "" || !IsFromSlurm(job) {
		t.Errorf("(-want +got)\n%s", diff)
	}
	job.Annotations[keys.Slurm] = "{"
	if diff := cmp.Diff(Options{}, OptionsOf(job)); diff != "" {
		t.Errorf("what cannot be read (-want +got)\n%s", diff)
	}
}
