package jobactions

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// TestUndoActsOnTheCurrentStateOfJobs verifies that undo uses the job as it is after the action. The state before a hold
// says that the job is not held, so that a release would do nothing.
func TestUndoActsOnTheCurrentStateOfJobs(t *testing.T) {
	t.Parallel()
	snap, err := snapshot.Of(time.Date(2026, time.November, 26, 12, 0, 0, 0, time.UTC), jobObject("train"))
	if err != nil {
		t.Fatal(err)
	}
	before, deleted := &snapshot.Job{Name: "train", UID: "train"}, &snapshot.Job{Name: "gone", UID: "gone"}
	var verb screenapi.Verb
	var used []*snapshot.Job
	undo := undoOf(screenapi.Hold, []*snapshot.Job{before, deleted}, func(_ context.Context, v screenapi.Verb, jobs []*snapshot.Job) (string, error) {
		verb, used = v, jobs
		return "", nil
	})
	run := undo(&screenapi.Context{Snap: snap})
	if _, err := run.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if verb != screenapi.Release || len(used) != 2 || used[0] != snap.Job("train") || used[1] != deleted {
		t.Errorf("%s %v", verb, used)
	}
}

func jobObject(name string) *batchv1alpha1.Job {
	object := &batchv1alpha1.Job{}
	object.Namespace, object.Name, object.UID = "nlp", name, types.UID(name)
	return object
}
