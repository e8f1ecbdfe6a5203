package slurm_test

import (
	"testing"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// commands checks the Commands for jobs, each written as action and target, in any order.
func commands(want ...string) func(*testing.T, *clitest.Server) {
	return func(t *testing.T, server *clitest.Server) {
		t.Helper()
		got := map[string]bool{}
		for _, object := range server.CreatedObjects("Command") {
			got[object["action"].(string)+" "+object["target"].(map[string]any)["name"].(string)] = true
		}
		for _, one := range want {
			if !got[one] {
				t.Errorf("no Command %q; there are %v", one, got)
			}
		}
		if len(got) != len(want) {
			t.Errorf("Commands %v, want %v", got, want)
		}
	}
}

// jobsPath is the API path of the jobs in the namespace of the golden files.
const jobsPath = "/apis/batch.volcano.sh/v1alpha1/namespaces/nlp/jobs"

// noted checks an annotation of a job.
func noted(job, key, want string) func(*testing.T, *clitest.Server) {
	return func(t *testing.T, server *clitest.Server) {
		t.Helper()
		for _, object := range server.ObjectsBelow(jobsPath) {
			metadata := object["metadata"].(map[string]any)
			if metadata["name"] != job {
				continue
			}
			annotations, _ := metadata["annotations"].(map[string]any)
			if got, _ := annotations[key].(string); got != want {
				t.Errorf("annotation %s of %s is %q, want %q", key, job, got, want)
			}
			return
		}
		t.Errorf("no job %s", job)
	}
}

func checking(r golden.Run, checks ...func(*testing.T, *clitest.Server)) golden.Run {
	r.Check = func(t *testing.T, server *clitest.Server) {
		for _, check := range checks {
			check(t, server)
		}
	}
	return r
}

func TestScancel(t *testing.T) {
	t.Parallel()
	mei := []string{"USER", "mei"}
	typed := func(r golden.Run, input string) golden.Run {
		r.Input = input
		return r
	}
	golden.CompareRuns(t, "scancel", []golden.Run{
		checking(withEnv(slurmRun("a job", "scancel", "36"), mei...), commands("TerminateJob train-sh-x7k2p"), noted("train-sh-x7k2p", keys.CancelledBy, "mei")),
		checking(withEnv(slurmRun("by its name", "scancel", "-v", "eval-b8d2c"), mei...), commands("TerminateJob eval-b8d2c")),
		checking(withEnv(slurmRun("elements of an array", "scancel", "42_7", "42_[9-10]"), mei...), commands(), noted("sweep", keys.ArrayCancelled, "7,9-10"), noted("sweep", keys.ArrayCancelledBy, `{"mei":"7,9-10"}`)),
		checking(withEnv(inPart(slurmRun("elements that others cancelled stay theirs", "scancel", "42_[3,5,15]")), mei...), commands(), noted("sweep", keys.ArrayCancelled, "2-3,5,15"), noted("sweep", keys.ArrayCancelledBy, `{"ann":"2,5","mei":"3,15"}`)),
		checking(withEnv(slurmRun("an element by its own number", "scancel", "45"), mei...), commands(), noted("sweep", keys.ArrayCancelled, "3")),
		checking(withEnv(slurmRun("a suspended job", "scancel", "61"), mei...), commands("TerminateJob paused2"), noted("paused2", keys.CancelledBy, "mei")),
		checking(withEnv(slurmRun("of a user, what waits", "scancel", "-u", "ann", "-t", "PENDING", "-v"), mei...), commands("TerminateJob held", "TerminateJob after", "TerminateJob old")),
		checking(withEnv(slurmRun("of an array what runs", "scancel", "-n", "sweep", "-t", "RUNNING", "-v"), mei...), commands(), noted("sweep", keys.ArrayCancelled, "3-4")),
		checking(withEnv(slurmRun("of an array one that waits, if it ran", "scancel", "42_9", "-t", "RUNNING", "-v"), mei...), commands()),
		checking(withEnv(slurmRun("of a user in a variable that is not set", "scancel", "-u", ""), mei...), commands()),
		checking(withEnv(slurmRun("a job in a variable that is not set", "scancel", "--me", ""), mei...), commands()),
		checking(withEnv(slurmRun("nodes in a variable that is not set", "scancel", "-w", " , "), mei...), commands()),
		checking(withEnv(slurmRun("mine in a partition", "scancel", "--me", "-p", "research"), mei...), commands("TerminateJob train-sh-x7k2p", "TerminateJob eval-b8d2c")),
		checking(withEnv(slurmRun("of an array what waits", "scancel", "42", "-t", "PD"), mei...), commands(), noted("sweep", keys.ArrayCancelled, "5-15")),
		checking(withEnv(slurmRun("filters are joined", "scancel", "-u", "mei", "-n", "train.sh", "-A", "nlp-a", "-q", "normal", "-w", "r05n08"), mei...), commands("TerminateJob train-sh-x7k2p")),
		checking(slurmRun("an account without jobs", "scancel", "-A", "none", "--wckey", "x"), commands()),
		checking(typed(slurmRun("after a question, yes and no", "scancel", "-i", "36", "37"), "y\nn\n"), commands("TerminateJob train-sh-x7k2p")),
		checking(withEnv(slurmRun("filters of the environment", "scancel", "-v"), "SCANCEL_USER", "ann", "SCANCEL_NAME", "held"), commands("TerminateJob held")),
		checking(slurmRun("what is over, and what is not there", "scancel", "58", "4711", "42_0"), commands()),
		checking(slurmRun("what is over, quietly", "scancel", "-Q", "58"), commands()),
		checking(slurmRun("options without effect", "scancel", "--ctld", "--hurry", "-S", "other", "38"), commands("TerminateJob held")),
		checking(slurmRun("deleted", "scancel", "--purge", "38"), commands(), func(t *testing.T, server *clitest.Server) {
			for _, object := range server.ObjectsBelow(jobsPath) {
				if object["metadata"].(map[string]any)["name"] == "held" {
					t.Error("it is still there")
				}
			}
		}),
		checking(slurmRun("nothing named", "scancel"), commands()),
		checking(slurmRun("a signal for what waits", "scancel", "-s", "USR1", "37"), commands()),
		slurmRun("a signal that there is not", "scancel", "-s", "FOO", "36"),
		slurmRun("a state that cannot be asked for", "scancel", "-t", "CD"),
		slurmRun("reservations are refused", "scancel", "-R", "maint", "36"),
		slurmRun("a word that is no job", "scancel", "4_x"),
		slurmRun("an option that there is not", "scancel", "--force", "36"),
		checking(withEnv(slurmRun("mine that run, an array among them", "scancel", "--me", "-t", "R"), mei...), commands("TerminateJob train-sh-x7k2p"), noted("sweep", keys.ArrayCancelled, "3-4")),
		checking(withEnv(slurmRun("of an array what is on a node", "scancel", "-n", "sweep", "-w", "r05n08"), mei...), commands(), noted("sweep", keys.ArrayCancelled, "3")),
		checking(slurmRun("elements are not deleted, nor the others for them", "scancel", "--purge", "42_7"), commands(), noted("sweep", keys.ArrayCancelled, "")),
	})
}
