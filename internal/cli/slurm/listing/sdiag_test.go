package listing_test

import (
	"testing"

	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

func TestSdiagAndStrigger(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "sdiag", []golden.Run{
		slurmtest.NewRun("the jobs that are kept; no pod of a scheduler tells of its cycles", "sdiag", "-v"),
		slurmtest.NewRun("for a program", "sdiag", "--json"),
		slurmtest.NewRun("refused", "sdiag", "-r"),
		slurmtest.NewRun("a word", "sdiag", "all"),
		slurmtest.NewRun("a trigger at the end of a job", "strigger", "--set", "-j42", "--fini", "-p", "/bin/true"),
		slurmtest.NewRun("a trigger before the time limit", "strigger", "--set", "-j42", "--time", "--offset=-60", "-p", "/bin/true"),
		slurmtest.NewRun("a trigger about nodes", "strigger", "--set", "--node", "--down", "-p", "/bin/true"),
		slurmtest.NewRun("all triggers", "strigger", "--get"),
	})
}
