package control_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

func TestScancel(t *testing.T) {
	t.Parallel()
	mei := []string{"USER", "mei"}
	typed := func(r golden.Run, input string) golden.Run {
		r.Input = input
		return r
	}
	golden.CompareRuns(t, "scancel", []golden.Run{
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.NewRun("a job", "scancel", "36"), mei...), slurmtest.ExpectCommands("TerminateJob train-sh-x7k2p"), slurmtest.ExpectAnnotation("train-sh-x7k2p", keys.CancelledBy, "mei")),
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.NewRun("by its name", "scancel", "-v", "eval-b8d2c"), mei...), slurmtest.ExpectCommands("TerminateJob eval-b8d2c")),
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.NewRun("elements of an array", "scancel", "42_7", "42_[9-10]"), mei...), slurmtest.ExpectCommands(), slurmtest.ExpectAnnotation("sweep", keys.ArrayCancelled, "7,9-10"), slurmtest.ExpectAnnotation("sweep", keys.ArrayCancelledBy, `{"mei":"7,9-10"}`)),
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.WithMixedArray(slurmtest.NewRun("elements that others cancelled stay theirs", "scancel", "42_[3,5,15]")), mei...), slurmtest.ExpectCommands(), slurmtest.ExpectAnnotation("sweep", keys.ArrayCancelled, "2-3,5,15"), slurmtest.ExpectAnnotation("sweep", keys.ArrayCancelledBy, `{"ann":"2,5","mei":"3,15"}`)),
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.NewRun("an element by its own number", "scancel", "45"), mei...), slurmtest.ExpectCommands(), slurmtest.ExpectAnnotation("sweep", keys.ArrayCancelled, "3")),
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.NewRun("a suspended job", "scancel", "61"), mei...), slurmtest.ExpectCommands("TerminateJob paused2"), slurmtest.ExpectAnnotation("paused2", keys.CancelledBy, "mei")),
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.NewRun("of a user, what waits", "scancel", "-u", "ann", "-t", "PENDING", "-v"), mei...), slurmtest.ExpectCommands("TerminateJob held", "TerminateJob after", "TerminateJob old")),
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.NewRun("of an array what runs", "scancel", "-n", "sweep", "-t", "RUNNING", "-v"), mei...), slurmtest.ExpectCommands(), slurmtest.ExpectAnnotation("sweep", keys.ArrayCancelled, "3-4")),
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.NewRun("of an array one that waits, if it ran", "scancel", "42_9", "-t", "RUNNING", "-v"), mei...), slurmtest.ExpectCommands()),
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.NewRun("of a user in a variable that is not set", "scancel", "-u", ""), mei...), slurmtest.ExpectCommands()),
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.NewRun("a job in a variable that is not set", "scancel", "--me", ""), mei...), slurmtest.ExpectCommands()),
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.NewRun("nodes in a variable that is not set", "scancel", "-w", " , "), mei...), slurmtest.ExpectCommands()),
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.NewRun("mine in a partition", "scancel", "--me", "-p", "research"), mei...), slurmtest.ExpectCommands("TerminateJob train-sh-x7k2p", "TerminateJob eval-b8d2c")),
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.NewRun("of an array what waits", "scancel", "42", "-t", "PD"), mei...), slurmtest.ExpectCommands(), slurmtest.ExpectAnnotation("sweep", keys.ArrayCancelled, "5-15")),
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.NewRun("filters are joined", "scancel", "-u", "mei", "-n", "train.sh", "-A", "nlp-a", "-q", "normal", "-w", "r05n08"), mei...), slurmtest.ExpectCommands("TerminateJob train-sh-x7k2p")),
		slurmtest.WithChecks(slurmtest.NewRun("an account without jobs", "scancel", "-A", "none", "--wckey", "x"), slurmtest.ExpectCommands()),
		slurmtest.WithChecks(typed(slurmtest.NewRun("after a question, yes and no", "scancel", "-i", "36", "37"), "y\nn\n"), slurmtest.ExpectCommands("TerminateJob train-sh-x7k2p")),
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.NewRun("filters of the environment", "scancel", "-v"), "SCANCEL_USER", "ann", "SCANCEL_NAME", "held"), slurmtest.ExpectCommands("TerminateJob held")),
		slurmtest.WithChecks(slurmtest.NewRun("what is over, and what is not there", "scancel", "58", "4711", "42_0"), slurmtest.ExpectCommands()),
		slurmtest.WithChecks(slurmtest.NewRun("what is over, quietly", "scancel", "-Q", "58"), slurmtest.ExpectCommands()),
		slurmtest.WithChecks(slurmtest.NewRun("options without effect", "scancel", "--ctld", "--hurry", "-S", "other", "38"), slurmtest.ExpectCommands("TerminateJob held")),
		slurmtest.WithChecks(slurmtest.NewRun("deleted", "scancel", "--purge", "38"), slurmtest.ExpectCommands(), func(t *testing.T, server *clitest.Server) {
			for _, object := range server.ObjectsBelow(slurmtest.JobsPath) {
				if object["metadata"].(map[string]any)["name"] == "held" {
					t.Error("it is still there")
				}
			}
		}),
		slurmtest.WithChecks(slurmtest.NewRun("nothing named", "scancel"), slurmtest.ExpectCommands()),
		slurmtest.WithChecks(slurmtest.NewRun("a signal for what waits", "scancel", "-s", "USR1", "37"), slurmtest.ExpectCommands()),
		slurmtest.NewRun("a signal that there is not", "scancel", "-s", "FOO", "36"),
		slurmtest.NewRun("a state that cannot be asked for", "scancel", "-t", "CD"),
		slurmtest.NewRun("reservations are refused", "scancel", "-R", "maint", "36"),
		slurmtest.NewRun("a word that is no job", "scancel", "4_x"),
		slurmtest.NewRun("an option that there is not", "scancel", "--force", "36"),
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.NewRun("mine that run, an array among them", "scancel", "--me", "-t", "R"), mei...), slurmtest.ExpectCommands("TerminateJob train-sh-x7k2p"), slurmtest.ExpectAnnotation("sweep", keys.ArrayCancelled, "3-4")),
		slurmtest.WithChecks(slurmtest.WithEnv(slurmtest.NewRun("of an array what is on a node", "scancel", "-n", "sweep", "-w", "r05n08"), mei...), slurmtest.ExpectCommands(), slurmtest.ExpectAnnotation("sweep", keys.ArrayCancelled, "3")),
		slurmtest.WithChecks(slurmtest.NewRun("elements are not deleted, nor the others for them", "scancel", "--purge", "42_7"), slurmtest.ExpectCommands(), slurmtest.ExpectAnnotation("sweep", keys.ArrayCancelled, "")),
	})
}

// A rejected cancellation leaves no annotation on the job.
func TestACancelThatIsForbiddenLeavesNoMark(t *testing.T) {
	t.Parallel()
	run := slurmtest.NewRun("", "scancel", "36")
	server := clitest.Start(t, golden.ClusterObjects()...)
	slurmtest.AddJobs(server)
	server.RejectRequests("POST", "/apis/bus.volcano.sh/v1alpha1/namespaces/nlp/commands", 403, metav1.StatusReasonForbidden, "no")
	if got := run.RunAgainst(t, server); got.Code == 0 {
		t.Errorf("it is content: %s", got.Err)
	}
	slurmtest.ExpectAnnotation("train-sh-x7k2p", keys.CancelledBy, "")(t, server)
}
