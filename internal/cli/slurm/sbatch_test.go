package slurm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// site returns a cluster with a profile, in which the next job gets the number 43.
func site(server *clitest.Server) {
	server.SetObjects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "slurm-profile", Namespace: "volcano-system"}, Data: map[string]string{"profile.yaml": "defaultImage: base:1\n"}})
	server.OnCreate("Job", func(job map[string]any) {
		job["metadata"].(map[string]any)["labels"] = map[string]any{keys.JobID: "43"}
	})
}

// batchRun runs sbatch with words, a script on standard input, and environment variables.
func batchRun(about, script string, argv ...string) golden.Run {
	return golden.Run{About: about, Argv: append([]string{"slurm", "sbatch", "-o", "/dev/null"}, argv...), Input: script, Prepare: site}
}

const hello = "#!/bin/sh\necho hello\n"

func TestSbatch(t *testing.T) {
	t.Parallel()
	refused := batchRun("the server says no", hello)
	refused.Prepare = func(server *clitest.Server) {
		site(server)
		server.RejectRequests("POST", "/apis/batch.volcano.sh/v1alpha1/namespaces/nlp/jobs", 403, metav1.StatusReasonForbidden, `jobs.batch.volcano.sh is forbidden: User "mei" cannot create resource "jobs" in API group "batch.volcano.sh" in the namespace "nlp"`)
	}
	half := batchRun("what goes with the job cannot be created: the job is taken back", hello)
	half.Prepare = func(server *clitest.Server) {
		site(server)
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
	noImage := batchRun("no image", hello)
	noImage.Prepare = nil
	broken := batchRun("a profile with a mistake", hello)
	broken.Prepare = func(server *clitest.Server) {
		server.SetObjects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "slurm-profile", Namespace: "nlp"}, Data: map[string]string{"profile.yaml": "maxTime: 2h\n"}})
	}
	planned := batchRun("when would it start", hello, "--test-only", "-N4", "-c8")
	planned.Prepare = func(server *clitest.Server) { site(server); golden.AnswerPlans(golden.NewStartingAnswer())(server) }
	planned.Check = golden.CheckStored("/api/v1/namespaces/nlp/configmaps", 0)
	golden.CompareRuns(t, "sbatch", []golden.Run{
		batchRun("a script on standard input", hello),
		batchRun("a command line", "", "--wrap=echo hi"),
		batchRun("the number alone", hello, "--parsable"),
		batchRun("nothing but errors", hello, "-Q", "--hint=nomultithread"),
		batchRun("what has no effect", "#!/bin/sh\n#SBATCH --hint=nomultithread\n#SBATCH --mail-type=END\necho\n#SBATCH -n2\n", "-s"),
		batchRun("refused when it is to be strict", "#!/bin/sh\n#SBATCH --hint=nomultithread\n", "--strict"),
		withEnv(batchRun("a variable", hello), "SBATCH_PARTITION", "research"),
		withEnv(batchRun("a variable that is wrong", hello), "SBATCH_PARTITION", "nosuch"),
		planned,
		batchRun("no script", "echo hi\n"),
		batchRun("an empty one", ""),
		batchRun("a file that is not there", "", "run.sh"),
		batchRun("arguments of a command line", "", "--wrap=echo", "a"),
		batchRun("an option that there is not", hello, "--foo"),
		batchRun("an option that there is not, in the script", "#!/bin/sh\n#SBATCH --foo\n"),
		batchRun("a word in a directive", "#!/bin/sh\n#SBATCH -N2 x\n"),
		batchRun("a quote that is not closed", "#!/bin/sh\n\n\n\n#SBATCH --comment=\"a b\n"),
		batchRun("memory as Kubernetes writes it", hello, "--mem=4Gi"),
		batchRun("memory three times", hello, "--mem=4G", "--mem-per-cpu=1G"),
		batchRun("GPUs that do not divide", hello, "--gpus=7", "--nodes=2"),
		batchRun("reservations", hello, "--reservation=maint"),
		batchRun("a partition that is not there", hello, "-p", "nosuch"),
		batchRun("a quality of service that is not there", hello, "-q", "nosuch"),
		batchRun("a dependency that cannot be read", hello, "-d", "afterburstbuffer:1"),
		batchRun("components", "#!/bin/sh\n#SBATCH -n1\n#SBATCH hetjob\n#SBATCH -n2\n"),
		batchRun("a directory on no volume", hello, "-D", "/data"),
		batchRun("a pattern that means nothing", hello, "-e", "x-%q.err"),
		batchRun("an element's number outside of an array", hello, "-e", "x-%a.err"),
		{About: "output that no volume takes", Argv: []string{"slurm", "sbatch"}, Input: hello, Prepare: site},
		batchRun("the word between components", "", "-N1", ":", "-N2", "run.sh"),
		batchRun("the word between components, with a command line", "", "--wrap=a", ":", "-N2"),
		batchRun("strict with what the translation and the script's lines say", "#!/bin/sh\n#SBATCH --mail-type=END --export=NOSUCH\ntrue\n#SBATCH -n2\n", "--strict", "-e", "/nosuch/x"),
		batchRun("tasks that have no place", hello, "-N2", "-n5", "--ntasks-per-node=2"),
		batchRun("fewer tasks than nodes", hello, "-N4", "-n2"),
		batchRun("the word SLURM in a directive", "#!/bin/sh\n#SLURM -n1\n"),
		batchRun("a list of MPI types", hello, "--mpi=list"),
		batchRun("two mistakes", hello, "--mem=1.5G", "-t", "2h"),
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
	site(server)
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
	site(server)
	got := batchRun("", "#!/bin/sh\n#SBATCH -v --hint=x --mail-type=END -s -O --propagate --distribution=block\n#SBATCH --signal=USR1@90\nx\n#SBATCH -n2\n", "-e", "/nosuch/x").RunAgainst(t, server)
	if got.Code != 0 || strings.Contains(got.Err, "submission failed") || strings.Count(got.Err, "warning:") < 7 {
		t.Errorf("exit %d: %s", got.Code, got.Err)
	}
}

func TestInstallMakesLinksAndShadowsNoSlurm(t *testing.T) {
	t.Parallel()
	dir, slurm := t.TempDir(), t.TempDir()
	run := func(path string, args ...string) golden.Result {
		return golden.Run{Argv: append([]string{"slurm"}, args...), Env: map[string]string{"PATH": path}}.RunAgainst(t, clitest.Start(t))
	}
	if got := run(dir, "install", "--dir", dir, "--dry-run"); got.Code != 0 || !strings.Contains(got.Out, "sbatch, ") {
		t.Errorf("dry run: %+v", got)
	}
	if _, err := os.Lstat(filepath.Join(dir, "sbatch")); err == nil {
		t.Error("a dry run makes links")
	}
	for range 2 {
		if got := run(dir, "install", "--dir", dir); got.Code != 0 || got.Err != "" {
			t.Errorf("install: %+v", got)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if target, err := os.Readlink(filepath.Join(dir, "squeue")); err != nil || target != self {
		t.Errorf("squeue leads to %s, %v", target, err)
	}
	if err := os.WriteFile(filepath.Join(slurm, "sinfo"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	if got := run(slurm+":"+other, "install", "--dir", other); got.Code != 1 || !strings.Contains(got.Err, filepath.Join(slurm, "sinfo")+" is on PATH") {
		t.Errorf("a Slurm on PATH: %+v", got)
	}
	if got := run("", "install", "--dir", slurm); got.Code != 1 || !strings.Contains(got.Err, "exists and is not a link to vcctl") {
		t.Errorf("a Slurm in the directory: %+v", got)
	}
	if entries, _ := os.ReadDir(other); len(entries) > 0 {
		t.Errorf("links were made: %v", entries)
	}
	if err := os.Remove(filepath.Join(dir, "sacct")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/elsewhere/vcctl", filepath.Join(dir, "sacct")); err != nil {
		t.Fatal(err)
	}
	if got := run(dir, "install", "--dir", dir); got.Code != 1 || !strings.Contains(got.Err, "not confirmed") {
		t.Errorf("links to another vcctl, without a yes: %+v", got)
	}
	if got := run(dir, "install", "--dir", dir, "-y"); got.Code != 0 {
		t.Errorf("links to another vcctl: %+v", got)
	}
	if err := os.Remove(filepath.Join(dir, "sacct")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/elsewhere/vcctl", filepath.Join(dir, "sacct")); err != nil {
		t.Fatal(err)
	}
	if got := run(dir, "uninstall", "--dir", dir); got.Code != 1 || !strings.Contains(got.Err, "These links point to another vcctl: not confirmed") {
		t.Errorf("links to another vcctl are taken away without a yes: %+v", got)
	}
	if got := run(dir, "uninstall", "--dir", dir, "-y"); got.Code != 0 || !strings.Contains(got.Out, "removed from") {
		t.Errorf("uninstall: %+v", got)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("links are left: %v", entries)
	}
}
