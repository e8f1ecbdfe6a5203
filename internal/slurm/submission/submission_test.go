package submission

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

func TestWhatWasAskedForIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	job := &batch.Job{}
	if Made(job) {
		t.Error("made by nobody")
	}
	want := Options{Account: "nlp", Tasks: 8, MemPerNode: 4096, StdOut: "/home/mei/slurm-%j.out"}
	Write(job, want)
	if diff := cmp.Diff(want, Of(job)); diff != "" || !Made(job) {
		t.Errorf("(-want +got)\n%s", diff)
	}
	job.Annotations[keys.Slurm] = "{"
	if diff := cmp.Diff(Options{}, Of(job)); diff != "" {
		t.Errorf("what cannot be read (-want +got)\n%s", diff)
	}
}
