package translate

import (
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/slurm/directive"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/request"
)

// batchJob translates a whole script, as sbatch does.
func batchJob(t *testing.T, script, environ string) *Result {
	t.Helper()
	read, err := directive.ParseScript([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	r, err := request.BuildRequest(request.Input{Command: request.Sbatch, Words: read.Components[0], Environ: strings.Fields(environ), Now: moment})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.CheckSupport(nil, nil); err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseProfile([]byte(site))
	if err != nil {
		t.Fatal(err)
	}
	result, err := Job(Input{Request: r, Profile: p, Title: "run.sh", Script: []byte(script), Suffix: "x7k2p", Key: "ab12", Namespace: "nlp", User: "mei", Submitter: "mei", Dir: "/home/mei"})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestKjobsMistakes tests what kjob, the other translator of batch scripts in Go, gets wrong. kjob also gives every
// job the number 1; TestSlurmOnProcessNodes, and TestSubmitArray in test/bench, test that on a real cluster.
func TestKjobsMistakes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script, environ string
		want            map[string]string
	}{
		"memory without a suffix is MiB": {"#SBATCH --mem=4096", "", map[string]string{main + "resources.requests.memory": "4Gi"}},
		"memory with G is 1024 MiB":      {"#SBATCH --mem=4G", "", map[string]string{main + "resources.requests.memory": "4Gi"}},
		"a value after a blank":          {"#SBATCH --nodes 2", "", map[string]string{"spec.tasks.1.replicas": "1"}},
		"a value glued to a letter":      {"#SBATCH -n4 -N1", "", map[string]string{main + "resources.requests.cpu": "4"}},
		"a switch":                       {"#SBATCH --exclusive", "", map[string]string{"launch.exclusive": "true"}},
		"several options in a line":      {"#SBATCH -N 2 -n 8", "", map[string]string{"spec.tasks.1.replicas": "1", "launch.tasks": "8"}},
		"-c in a script":                 {"#SBATCH -c 4", "", map[string]string{main + "resources.requests.cpu": "4"}},
		"--ntasks-per-node in a script":  {"#SBATCH --ntasks-per-node=4", "", map[string]string{main + "resources.requests.cpu": "4"}},
		"SBATCH_MEM_PER_CPU is of each processor, not of each task": {"#SBATCH -n2 -N1 -c3", "SBATCH_MEM_PER_CPU=1G", map[string]string{main + "resources.requests.memory": "6Gi"}},
		"an array of several nodes":                                 {"#SBATCH -a 0-1 -N2", "", map[string]string{head + "replicas": "4", head + "partitionPolicy.partitionSize": "2"}},
		"a value in quotes":                                         {`#SBATCH -J "a b" --comment='c d'`, "", map[string]string{"launch.jobName": "a b"}},
		"a comment behind options":                                  {"#SBATCH -n2 -N1 # -c 4", "", map[string]string{main + "resources.requests.cpu": "2"}},
		"a variable overrules the script":                           {"#SBATCH -p nlp", "SBATCH_PARTITION=gpu", map[string]string{"spec.queue": "research"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := batchJob(t, "#!/bin/bash\n"+c.script+"\n", c.environ)
			for path, value := range c.want {
				if got := at(t, r, path); got != value {
					t.Errorf("%s is %q, want %q", path, got, value)
				}
			}
		})
	}
}

// kjob runs the script in every pod and removes the word srun from it.
func TestTheScriptRunsOnceAndIsNotChanged(t *testing.T) {
	t.Parallel()
	const script = "#!/bin/bash\n#SBATCH -N4\npython prepare.py\nsrun python train.py\n"
	r := batchJob(t, script, "")
	if got := r.ConfigMap.Data[launchconfig.ScriptKey]; got != script {
		t.Errorf("the script is %q", got)
	}
	if n := r.Job.Spec.Tasks[0].Replicas; r.Job.Spec.Tasks[0].Name != launchconfig.HeadTask || n != 1 {
		t.Errorf("the task that runs it has %d pods", n)
	}
}

// kjob rejects scripts that contain these commands.
func TestSlurmsCommandsInAScriptAreAllowed(t *testing.T) {
	t.Parallel()
	const script = "#!/bin/bash\nsqueue --me\nscontrol show hostnames\nscancel $SLURM_JOB_ID\n"
	if r := batchJob(t, script, ""); r.ConfigMap.Data[launchconfig.ScriptKey] != script {
		t.Errorf("the script is %q", r.ConfigMap.Data[launchconfig.ScriptKey])
	}
}
