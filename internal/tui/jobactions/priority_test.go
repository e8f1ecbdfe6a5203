package jobactions

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/test/tuitest"
)

func classedJob(name, class string, phase batchv1alpha1.JobPhase) *snapshot.Job {
	return &snapshot.Job{Namespace: "nlp", Name: name, PriorityClass: class, Phase: phase}
}

func TestUndoGivesEachJobItsOwnClassAgain(t *testing.T) {
	t.Parallel()
	recorder := &tuitest.Recorder{}
	jobs := []*snapshot.Job{classedJob("a", "low", batchv1alpha1.Pending), classedJob("b", "", batchv1alpha1.Running), classedJob("c", "high", batchv1alpha1.Pending)}
	run, ok := changePriority(recorder, "high", jobs)[0].(screenapi.Run)
	if !ok {
		t.Fatal("no Run")
	}
	for _, do := range []func(context.Context) (string, error){run.Do, run.Undo(&screenapi.Context{Actions: recorder}).Do} {
		if _, err := do(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{`priority class "high" for nlp/a, nlp/b`, `priority class "" for nlp/b`, `priority class "low" for nlp/a`}
	if diff := cmp.Diff(want, recorder.Asked); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestPriorityIsForJobsThatHaveNotEnded(t *testing.T) {
	t.Parallel()
	ended, waiting := classedJob("a", "", batchv1alpha1.Failed), classedJob("b", "", batchv1alpha1.Pending)
	for name, tc := range map[string]struct {
		jobs []*snapshot.Job
		want string
	}{
		"none":     {nil, "priority: no job is selected"},
		"ended":    {[]*snapshot.Job{ended}, "priority: a has ended"},
		"all":      {[]*snapshot.Job{ended, ended}, "priority: all 2 jobs have ended"},
		"some":     {[]*snapshot.Job{ended, waiting}, ""},
		"a single": {[]*snapshot.Job{waiting}, ""},
	} {
		if got := priorityRefusal(tc.jobs); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestWithoutRightToSeeClassesTheNameIsEntered(t *testing.T) {
	t.Parallel()
	ctx := &screenapi.Context{Snap: &snapshot.Snapshot{}, Actions: &tuitest.Recorder{}}
	input, ok := askForPriority(ctx, []*snapshot.Job{classedJob("a", "low", batchv1alpha1.Pending)})[0].(screenapi.Input)
	if !ok || input.Value != "low" {
		t.Errorf("%+v", input)
	}
	ctx.Snap = &snapshot.Snapshot{PriorityClasses: map[string]int32{"low": 1, "high": 9, "also-high": 9}}
	menu, ok := askForPriority(ctx, []*snapshot.Job{classedJob("a", "low", batchv1alpha1.Pending)})[0].(screenapi.Choose)
	if !ok || len(menu.Choices) != 4 || !menu.Choices[3].On || menu.Choices[1].Title != "also-high                9" {
		t.Errorf("%+v", menu)
	}
}
