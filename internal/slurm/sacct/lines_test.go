package sacct

import (
	"testing"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// The line of a step shows how the step ended.
func TestTheStateOfAStep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step launchconfig.Step
		code state.Code
		exit string
	}{
		"it runs":                      {launchconfig.Step{}, state.Running, "0:0"},
		"it went well":                 {launchconfig.Step{End: 2}, state.Completed, "0:0"},
		"a task failed":                {launchconfig.Step{End: 2, Code: 3}, state.Failed, "3:0"},
		"a signal ended it":            {launchconfig.Step{End: 2, Signal: 9}, state.Cancelled, "0:9"},
		"it was cancelled":             {launchconfig.Step{End: 2, Signal: 15, Cancelled: true}, state.Cancelled, "0:15"},
		"its memory was used up":       {launchconfig.Step{End: 2, Signal: 125}, state.OutOfMemory, "0:125"},
		"and then it was sent SIGKILL": {launchconfig.Step{End: 2, Signal: 125, Cancelled: true}, state.OutOfMemory, "0:125"},
	} {
		line := newStepLine(Line{Row: &listrow.Row{Source: &listrow.Source{Job: &batchv1alpha1.Job{}}}}, c.step)
		if line.Code != c.code || line.Ended.String() != c.exit {
			t.Errorf("%s: %s %s, want %s %s", name, line.Code, line.Ended, c.code, c.exit)
		}
	}
}
