package submit_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// submitted runs sbatch and returns its output and the job, script and Secret that it created. They are nil if it
// created none.
func submitted(t *testing.T, run golden.Run) (got golden.Result, job map[string]any, script string, exported []string) {
	t.Helper()
	server := clitest.Start(t, golden.ClusterObjects()...)
	slurmtest.AddProfile(server)
	got = run.RunAgainst(t, server)
	if jobs := server.CreatedObjects("Job"); len(jobs) == 1 {
		job = jobs[0]
	}
	for _, object := range server.CreatedObjects("ConfigMap") {
		script, _ = object["data"].(map[string]any)[launchconfig.ScriptKey].(string)
	}
	for _, object := range server.CreatedObjects("Secret") {
		text, _ := object["data"].(map[string]any)[launchconfig.EnvironmentKey].(string)
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		exported = launchconfig.SplitEnvironment(raw)
	}
	return got, job, script, exported
}

func asText(t *testing.T, object any) string {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func annotation(job map[string]any, key string) string {
	metadata, _ := job["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	text, _ := annotations[key].(string)
	return text
}

// Scripts are found by their path, in the working directory, and then on PATH. The test changes the working directory.
func TestWhereScriptsAreFound(t *testing.T) {
	here, path := t.TempDir(), t.TempDir()
	for file, text := range map[string]string{
		filepath.Join(here, "both.sh"): "#!/bin/sh\necho here\n", filepath.Join(path, "both.sh"): "#!/bin/sh\necho on PATH\n",
		filepath.Join(path, "far.sh"): "#!/bin/sh\necho far\n", filepath.Join(here, "large.sh"): "#!/bin/sh\n" + strings.Repeat("#", 1<<20),
	} {
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(here)
	for name, want := range map[string]string{"both.sh": "echo here", "./both.sh": "echo here", filepath.Join(path, "both.sh"): "echo on PATH", "far.sh": "echo far"} {
		run := batchRun("", "", name, "a", "b c")
		run.Env = map[string]string{"PATH": "/nosuch:" + path}
		got, job, script, _ := submitted(t, run)
		if got.Code != 0 || !strings.Contains(script, want) || annotation(job, keys.JobTitle) != filepath.Base(name) {
			t.Errorf("%s: %+v, %q of %q", name, got, script, annotation(job, keys.JobTitle))
		}
	}
	for name, want := range map[string]string{
		"./far.sh":   "sbatch: error: Unable to open file ./far.sh\nsbatch: hint: the file does not exist; omit the file name to read the script from standard input\n",
		"nowhere.sh": "sbatch: error: Unable to open file nowhere.sh\nsbatch: hint: the script is neither in the working directory nor on PATH; use --wrap='COMMAND' to submit a command\n", "large.sh": "sbatch: error: the batch script is larger than 921600 bytes\nsbatch: hint: move large data to a separate file, because the script is stored in a ConfigMap\n",
	} {
		if got, job, _, _ := submitted(t, batchRun("", "", name)); got.Code != 1 || got.Err != want || job != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Options can name files with nodes and with variables.
func TestFilesOfOptions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hosts, bad, variables := filepath.Join(dir, "hosts"), filepath.Join(dir, "bad"), filepath.Join(dir, "vars")
	for file, text := range map[string]string{hosts: "n[1-2] # the first rack\nn7,n8\n", bad: "# none\n", variables: "A=1\x00B=x\ny\x00"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, words := range [][]string{{"-F", hosts}, {"-w", hosts}} {
		got, job, _, _ := submitted(t, batchRun("", "#!/bin/sh\n#SBATCH -w n9\n", words...))
		if text := asText(t, job); got.Code != 0 || !strings.Contains(text, `["n1","n2","n7","n8"]`) || strings.Contains(text, "n9") {
			t.Errorf("%v: %+v, %s", words, got, text)
		}
	}
	for word, want := range map[string]string{
		"-F" + bad:                         "sbatch: error: " + bad + " is not a list of nodes: the file is empty\nsbatch: hint: separate node names, or lists such as n[1-3], with spaces, commas or line breaks\n",
		"-F" + dir + "/nosuch":             "sbatch: error: Unable to open file " + dir + "/nosuch\nsbatch: hint: specify a file that contains a list of nodes\n",
		"--export-file=" + dir + "/nosuch": "sbatch: error: Unable to open file " + dir + "/nosuch\nsbatch: hint: --export-file must contain NAME=value entries, each terminated by a NUL byte\n",
	} {
		if got, job, _, _ := submitted(t, batchRun("", slurmtest.HelloScript, word)); got.Code != 1 || got.Err != want || job != nil {
			t.Errorf("%s: %+v", word, got)
		}
	}
	run := slurmtest.WithEnv(batchRun("", slurmtest.HelloScript, "--export-file="+variables), "SBATCH_EXPORT", "EPOCHS,TOKEN=hunter2")
	run.Env["EPOCHS"] = "3"
	got, job, _, exported := submitted(t, run)
	if want := "EPOCHS=3|TOKEN=hunter2|A=1|B=x\ny"; got.Code != 0 || strings.Join(exported, "|") != want || strings.Contains(asText(t, job), "hunter2") {
		t.Errorf("%+v, %q", got, exported)
	}
}

// The command line is stored with the job without the values of exported variables.
func TestTheLineThatIsKeptHasNoSecrets(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{{"--export=ALL,TOKEN=hunter2"}, {"-Q", "--export", "A=hunter2"}} {
		got, job, _, _ := submitted(t, batchRun("", slurmtest.HelloScript, words...))
		if text := asText(t, job); got.Code != 0 || strings.Contains(text, "hunter2") || !strings.Contains(annotation(job, keys.Slurm), "=…") {
			t.Errorf("%v: %+v %s", words, got, annotation(job, keys.Slurm))
		}
	}
}

// -M names a context, and the output contains its name.
func TestClusters(t *testing.T) {
	t.Parallel()
	for want, words := range map[string][]string{
		"Submitted batch job 43 on cluster test\n": {"-M", "test"}, "43;test\n": {"--clusters=test", "--parsable"}, "": {"-Mtest", "-Q"},
	} {
		if got, _, _, _ := submitted(t, batchRun("", slurmtest.HelloScript, words...)); got.Code != 0 || got.Out != want {
			t.Errorf("%v: %+v", words, got)
		}
	}
	if got, job, _, _ := submitted(t, batchRun("", slurmtest.HelloScript, "-M", "nosuch")); got.Code == 0 || job != nil || !strings.Contains(got.Err, "nosuch") {
		t.Errorf("%+v", got)
	}
}

// Equal nodes are counted: four nodes with three whole processors each. A drained node counts too, because it comes
// back.
func TestNodesAreCounted(t *testing.T) {
	t.Parallel()
	const never = "sbatch: error: Batch job submission failed: Requested node configuration is not available\n"
	drained, kept := golden.NewNode("drained"), golden.NewNode("kept")
	drained.Spec.Unschedulable, drained.Spec.Taints = true, []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
	kept.Spec.Taints = []corev1.Taint{{Key: "example.com/kept", Effect: corev1.TaintEffectNoSchedule}}
	for word, pods := range map[string]int{"-n12": 4, "-n13": 5, "-n15": 5, "-n16": 0} {
		server := clitest.Start(t, golden.ClusterObjects()...)
		slurmtest.AddProfile(server)
		server.SetObjects(drained, kept)
		got := batchRun("", slurmtest.HelloScript, word).RunAgainst(t, server)
		if pods == 0 {
			if got.Code != 1 || !strings.HasPrefix(got.Err, never) {
				t.Errorf("%s: %+v", word, got)
			}
			continue
		}
		if job := made(t, server); got.Code != 0 || int(job.Spec.MinAvailable) != pods {
			t.Errorf("%s: %d pods, want %d: %+v", word, job.Spec.MinAvailable, pods, got)
		}
	}
}

// A missing directory on a volume that is mounted here is reported at submission, before the job fails because of it.
func TestWhatIsMissingOnAVolumeIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	profile := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "slurm-profile", Namespace: "nlp"}, Data: map[string]string{
		"profile.yaml": "defaultImage: base:1\nvolumes:\n- {name: here, mountPath: " + dir + ", emptyDir: {}}\n- {name: far, mountPath: /nosuchroot, emptyDir: {}}\n"}}
	for words, want := range map[string]string{
		"-o " + dir + "/logs/%j.out":        "sbatch: warning: --output=" + dir + "/logs/%j.out: " + dir + "/logs does not exist; the job fails at startup unless this path exists\n",
		"-o " + dir + "/%j/x.out":           "",
		"-o " + dir + "/x -e " + dir + "/y": "",
		"-o /nosuchroot/logs/x":             "",
		"-i " + dir + "/in -o /dev/null":    "sbatch: warning: --input=" + dir + "/in: " + dir + "/in does not exist; the job fails at startup unless this path exists\n",
		"-D " + dir + "/w -o /dev/null":     "sbatch: warning: --chdir=" + dir + "/w: " + dir + "/w does not exist; the job fails at startup unless this path exists\n",
		"-D " + dir + " -o x":               "",
	} {
		server := clitest.Start(t, golden.ClusterObjects()...)
		slurmtest.AddProfile(server)
		server.SetObjects(profile)
		run := golden.Run{Argv: append([]string{"slurm", "sbatch"}, strings.Fields(words)...), Input: slurmtest.HelloScript}
		if got := run.RunAgainst(t, server); got.Code != 0 || got.Err != want {
			t.Errorf("%s: %+v, want %q", words, got, want)
		}
	}
}

// These runs show the messages of srun and salloc before and instead of an allocation.
func TestAllocationsThatAreNotMade(t *testing.T) {
	t.Parallel()
	const components = ": error: heterogeneous jobs are not supported\n"
	for line, want := range map[string]golden.Result{
		"srun --mpi=list":       {Out: "MPI plugin types are...\n\tnone\n"},
		"srun -n1 a : -n2 b":    {Err: "srun" + components + "srun: hint: submit the components as separate jobs, or create a Volcano Job with one task for each component\n", Code: 1},
		"salloc -N1 : -N2 bash": {Err: "salloc" + components + "salloc: hint: submit the components as separate jobs, or create a Volcano Job with one task for each component\n", Code: 1},
		"salloc --no-shell":     {Err: "salloc: error: --no-shell is not supported here (an allocation ends when its program ends; use sbatch --wrap='sleep infinity')\nsalloc: hint: remove --no-shell, or add this option to ignore in the site's profile\n", Code: 1},
		"salloc -Q -I1 true":    {Err: "salloc: error: Unable to allocate resources: Requested nodes are busy\nsalloc: hint: the allocation was not granted within 1s (--immediate); omit --immediate to wait\n", Code: 1},
		"srun -Q -I1 true":      {Err: "srun: error: Unable to allocate resources: Requested nodes are busy\nsrun: hint: the allocation was not granted within 1s (--immediate); omit --immediate to wait\n", Code: 1},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			slurmtest.AddProfile(server)
			if got := (golden.Run{Args: "slurm " + line}).RunAgainst(t, server); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
			made, cancelled := server.CreatedObjects("Job"), server.CreatedObjects("Command")
			if len(made) != len(cancelled) {
				t.Errorf("%d jobs were made, %d cancelled", len(made), len(cancelled))
			}
		})
	}
}
