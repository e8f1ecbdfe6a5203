package attach_test

import (
	"testing"

	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// These runs show the errors of sattach, sbcast and sgather before they start a command in a pod. The tests of
// internal/slurm/step cover the rest.
func TestStepTools(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "steptools", []golden.Run{
		slurmtest.NewRun("a job that waits", "sattach", "37.0"),
		slurmtest.NewRun("no step", "sattach"),
		slurmtest.NewRun("a job that nobody knows", "sattach", "4711.0"),
		slurmtest.NewRun("the script has no tasks", "sattach", "-l", "36"),
		slurmtest.NewRun("input", "sattach", "--input-filter=0", "36.0"),
		slurmtest.NewRun("the task is no number", "sattach", "--output-filter=x", "36.0"),
		slurmtest.NewRun("no job", "sbcast", "/etc/hostname", "/tmp/x"),
		slurmtest.NewRun("one file", "sbcast", "-j36", "/etc/hostname"),
		slurmtest.NewRun("a file that is not there", "sbcast", "-j36", "/nosuch", "/tmp/x"),
		slurmtest.NewRun("a directory", "sbcast", "-j36", "/etc", "/tmp/x"),
		slurmtest.NewRun("copy to a job that waits", "sbcast", "-j37", "/etc/hostname", "/tmp/x"),
		slurmtest.NewRun("outside a job", "sgather", "/tmp/x", "/tmp/y"),
	})
}
