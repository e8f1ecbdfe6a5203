package slurm

import (
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
)

// Variables of srun set the options of the step, and the command line overrides them.
func TestVariablesOfSteps(t *testing.T) {
	t.Parallel()
	streams, _, _ := iostreams.TestStreams("", 0)
	streams.Environ = func() []string {
		return []string{"SLURM_LABELIO=1", "SLURM_UNBUFFEREDIO=0", "SLURM_KILL_BAD_EXIT=1", "SLURM_STDOUTMODE=out-%t.txt", "SLURM_WAIT=", "SLURM_OVERLAP=yes"}
	}
	c := &call{f: cli.NewFactory("vcctl", &streams), table: srunTable}
	var err error
	if c.parsed, err = srunTable.ParseArguments([]string{"--kill-on-bad-exit=0", "hostname"}); err != nil {
		t.Fatal(err)
	}
	c.parsed.Given = append(c.stepsFromEnvironment(), c.parsed.Given...)
	r, err := c.readStep()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(r.args, " "), "--kill-on-bad-exit=1 --label --overlap --output=out-%t.txt --kill-on-bad-exit=0 -- hostname"; got != want {
		t.Errorf("the step is told %q, want %q", got, want)
	}
}
