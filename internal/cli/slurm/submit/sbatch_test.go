package submit_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// batchRun runs sbatch with words, a script on standard input, and environment variables.
func batchRun(about, script string, argv ...string) golden.Run {
	return golden.Run{About: about, Argv: append([]string{"slurm", "sbatch", "-o", "/dev/null"}, argv...), Input: script, Prepare: slurmtest.AddProfile}
}

func TestSbatch(t *testing.T) {
	t.Parallel()
	refused := batchRun("the server says no", slurmtest.HelloScript)
	refused.Prepare = func(server *clitest.Server) {
		slurmtest.AddProfile(server)
		server.RejectRequests("POST", "/apis/batch.volcano.sh/v1alpha1/namespaces/nlp/jobs", 403, metav1.StatusReasonForbidden, `jobs.batch.volcano.sh is forbidden: User "mei" cannot create resource "jobs" in API group "batch.volcano.sh" in the namespace "nlp"`)
	}
	half := batchRun("what goes with the job cannot be created: the job is taken back", slurmtest.HelloScript)
	half.Prepare = func(server *clitest.Server) {
		slurmtest.AddProfile(server)
		server.RejectRequests("POST", "/api/v1/namespaces/nlp/configmaps", 403, metav1.StatusReasonForbidden, `configmaps is forbidden: User "mei" cannot create resource "configmaps" in API group "" in the namespace "nlp"`)
	}
	half.Check = func(t *testing.T, server *clitest.Server) {
		for _, job := range server.ObjectsBelow("/apis/batch.volcano.sh/v1alpha1/namespaces/nlp/jobs") {
			metadata := job["metadata"].(map[string]any)
			if labels, _ := metadata["labels"].(map[string]any); labels[keys.JobID] == "43" {
				t.Errorf("the job %s is there", metadata["name"])
			}
		}
	}
	noImage := batchRun("no image", slurmtest.HelloScript)
	noImage.Prepare = nil
	broken := batchRun("a profile with a mistake", slurmtest.HelloScript)
	broken.Prepare = func(server *clitest.Server) {
		server.SetObjects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "slurm-profile", Namespace: "nlp"}, Data: map[string]string{"profile.yaml": "maxTime: 2h\n"}})
	}
	hidden := batchRun("the user may not read the site's profile", slurmtest.HelloScript, "--container-image=app:1")
	hidden.Prepare = func(server *clitest.Server) {
		server.RejectRequests("GET", "/api/v1/namespaces/volcano-system/configmaps", 403, metav1.StatusReasonForbidden, "no")
	}
	planned := batchRun("when would it start", slurmtest.HelloScript, "--test-only", "-N4", "-c8")
	planned.Prepare = func(server *clitest.Server) {
		slurmtest.AddProfile(server)
		golden.AnswerPlans(golden.NewStartingAnswer())(server)
	}
	planned.Check = golden.CheckStored("/api/v1/namespaces/nlp/configmaps", 0)
	golden.CompareRuns(t, "sbatch", []golden.Run{
		batchRun("a script on standard input", slurmtest.HelloScript),
		batchRun("a command line", "", "--wrap=echo hi"),
		hidden,
		batchRun("the number alone", slurmtest.HelloScript, "--parsable"),
		batchRun("nothing but errors", slurmtest.HelloScript, "-Q", "--hint=nomultithread"),
		batchRun("what has no effect", "#!/bin/sh\n#SBATCH --hint=nomultithread\n#SBATCH --mail-type=END\necho\n#SBATCH -n2\n", "-s"),
		batchRun("refused when it is to be strict", "#!/bin/sh\n#SBATCH --hint=nomultithread\n", "--strict"),
		slurmtest.WithEnv(batchRun("a variable", slurmtest.HelloScript), "SBATCH_PARTITION", "research"),
		slurmtest.WithEnv(batchRun("a variable that is wrong", slurmtest.HelloScript), "SBATCH_PARTITION", "nosuch"),
		planned,
		batchRun("no script", "echo hi\n"),
		batchRun("an empty one", ""),
		batchRun("a file that is not there", "", "run.sh"),
		batchRun("arguments of a command line", "", "--wrap=echo", "a"),
		batchRun("an option that there is not", slurmtest.HelloScript, "--foo"),
		batchRun("an option that there is not, in the script", "#!/bin/sh\n#SBATCH --foo\n"),
		batchRun("a word in a directive", "#!/bin/sh\n#SBATCH -N2 x\n"),
		batchRun("a quote that is not closed", "#!/bin/sh\n\n\n\n#SBATCH --comment=\"a b\n"),
		batchRun("memory as Kubernetes writes it", slurmtest.HelloScript, "--mem=4Gi"),
		batchRun("memory three times", slurmtest.HelloScript, "--mem=4G", "--mem-per-cpu=1G"),
		batchRun("GPUs that do not divide", slurmtest.HelloScript, "--gpus=7", "--nodes=2"),
		batchRun("reservations", slurmtest.HelloScript, "--reservation=maint"),
		batchRun("a partition that is not there", slurmtest.HelloScript, "-p", "nosuch"),
		batchRun("a quality of service that is not there", slurmtest.HelloScript, "-q", "nosuch"),
		batchRun("a dependency that cannot be read", slurmtest.HelloScript, "-d", "afterburstbuffer:1"),
		batchRun("components", "#!/bin/sh\n#SBATCH -n1\n#SBATCH hetjob\n#SBATCH -n2\n"),
		batchRun("a directory on no volume", slurmtest.HelloScript, "-D", "/data"),
		batchRun("a pattern that means nothing", slurmtest.HelloScript, "-e", "x-%q.err"),
		batchRun("an element's number outside of an array", slurmtest.HelloScript, "-e", "x-%a.err"),
		{About: "output that no volume takes", Argv: []string{"slurm", "sbatch"}, Input: slurmtest.HelloScript, Prepare: slurmtest.AddProfile},
		batchRun("the word between components", "", "-N1", ":", "-N2", "run.sh"),
		batchRun("the word between components, with a command line", "", "--wrap=a", ":", "-N2"),
		batchRun("strict with what the translation and the script's lines say", "#!/bin/sh\n#SBATCH --mail-type=END --export=NOSUCH\ntrue\n#SBATCH -n2\n", "--strict", "-e", "/nosuch/x"),
		batchRun("tasks that have no place", slurmtest.HelloScript, "-N2", "-n5", "--ntasks-per-node=2"),
		batchRun("fewer tasks than nodes", slurmtest.HelloScript, "-N4", "-n2"),
		batchRun("the word SLURM in a directive", "#!/bin/sh\n#SLURM -n1\n"),
		batchRun("a list of MPI types", slurmtest.HelloScript, "--mpi=list"),
		batchRun("two mistakes", slurmtest.HelloScript, "--mem=1.5G", "-t", "2h"),
		noImage, broken, refused, half,
		{About: "the version", Args: "slurm sbatch --version"},
		{About: "all options in a few lines", Args: "slurm sbatch --usage"},
		{About: "help", Args: "slurm sbatch --help"},
	})
}

// TestSbatchPrintsItsLineAlone checks that the number is the last word of the whole output, because scripts rely on
// that.
func TestSbatchPrintsItsLineAlone(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	slurmtest.AddProfile(server)
	options := "#SBATCH --mail-type=END --mail-user=mei --hint=nomultithread -s -O --propagate --distribution=block --nice=5 --mem=0 --tasks-per-node=1\n"
	got := batchRun("", "#!/bin/sh\n"+options+"x\n").RunAgainst(t, server)
	if got.Code != 0 || got.Err != "" || strings.Count(got.Out, "\n") != 1 {
		t.Errorf("exit %d: %s%s", got.Code, got.Out, got.Err)
	}
}

// TestOurWarningsAreNotTakenForAFailure checks that warnings do not contain words that Snakemake searches for in the
// output of sbatch.
func TestOurWarningsAreNotTakenForAFailure(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	slurmtest.AddProfile(server)
	got := batchRun("", "#!/bin/sh\n#SBATCH -v --hint=x --mail-type=END -s -O --propagate --distribution=block\n#SBATCH --signal=USR1@90\nx\n#SBATCH -n2\n", "-e", "/nosuch/x").RunAgainst(t, server)
	if got.Code != 0 || strings.Contains(got.Err, "submission failed") || strings.Count(got.Err, "warning:") < 7 {
		t.Errorf("exit %d: %s", got.Code, got.Err)
	}
}
