package submit

import (
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/request"
	"github.com/vc-batch/vc/internal/slurm/step/srunoptions"
)

// Variables of srun set the options of the step, and the command line overrides them.
func TestVariablesOfSteps(t *testing.T) {
	t.Parallel()
	streams, _, _ := iostreams.TestStreams("", 0)
	streams.Environ = func() []string {
		return []string{"SLURM_LABELIO=1", "SLURM_UNBUFFEREDIO=0", "SLURM_KILL_BAD_EXIT=1", "SLURM_STDOUTMODE=out-%t.txt", "SLURM_WAIT=", "SLURM_OVERLAP=yes"}
	}
	c := &program.Call{Factory: cli.NewFactory("vcctl", &streams), Table: srunTable}
	var err error
	if c.Parsed, err = srunTable.ParseArguments([]string{"--kill-on-bad-exit=0", "hostname"}); err != nil {
		t.Fatal(err)
	}
	c.Parsed.Given = append(stepsFromEnvironment(c), c.Parsed.Given...)
	r, err := readStep(c)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(r.args, " "), "--overlap --output=out-%t.txt --label --kill-on-bad-exit=1 --kill-on-bad-exit=0 -- hostname"; got != want {
		t.Errorf("the step is told %q, want %q", got, want)
	}
}

// srun has two tables with different texts, because most options mean something else in a step. Their syntax is the
// same, so a command line can move into a script.
func TestOptionsOfAllocationsAndStepsHaveTheSameSyntax(t *testing.T) {
	t.Parallel()
	shared := 0
	for _, inStep := range srunoptions.Table.Options {
		o := request.FindOption(request.Srun, inStep.Long)
		if o == nil {
			continue
		}
		shared++
		if o.Short != inStep.Short || o.Arg != inStep.Arg || o.Alias != inStep.Alias {
			t.Errorf("--%s: -%c, argument %d, alias %q for an allocation; -%c, %d, %q for a step", o.Long, o.Short, o.Arg, o.Alias, inStep.Short, inStep.Arg, inStep.Alias)
		}
		if inStep.StepOnly && o.Class == request.Refused {
			t.Errorf("--%s affects only a step, and is refused for an allocation", o.Long)
		}
	}
	if shared < 40 {
		t.Errorf("only %d options in both tables", shared)
	}
}
