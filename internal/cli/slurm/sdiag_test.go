package slurm_test

import (
	"testing"

	"github.com/vc-batch/vc/test/golden"
)

func TestSdiagAndStrigger(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "sdiag", []golden.Run{
		slurmRun("the jobs that are kept; no pod of a scheduler tells of its cycles", "sdiag", "-v"),
		slurmRun("for a program", "sdiag", "--json"),
		slurmRun("refused", "sdiag", "-r"),
		slurmRun("a word", "sdiag", "all"),
		slurmRun("a trigger at the end of a job", "strigger", "--set", "-j42", "--fini", "-p", "/bin/true"),
		slurmRun("a trigger before the time limit", "strigger", "--set", "-j42", "--time", "--offset=-60", "-p", "/bin/true"),
		slurmRun("a trigger about nodes", "strigger", "--set", "--node", "--down", "-p", "/bin/true"),
		slurmRun("all triggers", "strigger", "--get"),
	})
}
