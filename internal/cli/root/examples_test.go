package root_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// goesOn lists the flags with which a command follows changes until it is interrupted or reaches its end.
var goesOn = []string{"-w", "--watch", "--watch-only", "--wait", "--attach"}

// endsWith lists the examples that exit with a code other than 0 in this cluster.
var endsWith = map[string]int{
	"doctor --no-probe -o json":                   1,   // nothing is installed
	"config check":                                1,   // no scheduler has published its configuration
	"job explain train eval":                      8,   // eval waits
	"job explain -A":                              8,   // eval waits
	"job exec train -- sh":                        127, // its pods have few programs
	"job exec train -t worker -i 2 -- nvidia-smi": 127,
	"job attach train -t worker -i 0 -c debugger": 1, // its pods have one container
	"job logs train -t master-0 --prefix=false":   1, // it has no master
	"job logs train --previous":                   1, // it was not restarted
	"jobflow logs night":                          1, // no step of it has begun
	"jobflow logs night train --failed":           1, // the same
	"jobflow retry night":                         1, // it has not failed
	"jobflow retry night --wait":                  1, // the same
	"job logs hello -f":                           1, // the line before, which creates it, ran in another cluster
	"job logs nightly-again -f":                   1, // the same
	"slurm install --dir ~/bin":                   1, // no shell expands ~ here
	"slurm uninstall --dir ~/bin":                 1, // the same
	"slurm uninstall --dir . --dry-run":           1, // none are installed
	"slurm scancel -s USR1 -b 42":                 1, // none of its pods run
	"slurm scontrol hold 42":                      1, // it has started
	"slurm srun --jobid=42 --overlap --pty bash":  1, // none of its pods run
	"slurm sattach -l 42.0":                       1, // the same
	"slurm sattach 42":                            1,
	"slurm sbcast --jobid=42 run.sh /tmp/run.sh":  1,
	"slurm sbcast -f -j 42 run.sh /tmp/":          1,
	"slurm sgather -k /tmp/result.csv result.csv": 1, // it works only in jobs
	"slurm sgather -rk /tmp/results results":      1,
	"slurm sgather -f /tmp/result.csv result.csv": 1,
	"slurm scrontab -l":                           1, // there is no table
	"slurm scrontab -":                            1, // standard input contains no table

	"slurm strigger --set --jobid=42 --fini --program=run.sh": 1, // triggers are not available
	"slurm strigger --set --node --down --program=run.sh":     1,
}

// goesOnCode is the exit code of an example that the test interrupts.
const goesOnCode = cli.ExitInterrupted

// objectsOf reads the objects of a file.
func objectsOf(t *testing.T, name string) map[string]client.Object {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	decode := serializer.NewCodecFactory(cli.Scheme()).UniversalDeserializer()
	all := map[string]client.Object{}
	for part := range strings.SplitSeq(string(text), "\n---\n") {
		object, gvk, err := decode.Decode([]byte(part), nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		one := object.(client.Object)
		all[gvk.Kind+"/"+one.GetName()] = one
	}
	return all
}

// kindOf maps nouns to the kinds of their objects.
var kindOf = map[string]string{"job": "Job", "plan": "Job", "diff": "Job", "queue": "Queue", "podgroup": "PodGroup", "pod": "Pod", "jobflow": "JobFlow", "jobtemplate": "JobTemplate", "cronjob": "CronJob"}

// TestExamplesRun runs every example of every help text on a terminal, against the golden cluster with the additional
// objects in testdata/examples.yaml. It creates the files that the examples name and answers prompts with yes. Each
// example must exit with 0 or with its code in endsWith.
func TestExamplesRun(t *testing.T) {
	world, files := objectsOf(t, "examples.yaml"), objectsOf(t, "new.yaml")
	t.Chdir(t.TempDir())
	if err := os.WriteFile("volcano-scheduler.conf", []byte(config.DefaultText), 0o600); err != nil {
		t.Fatal(err)
	}
	tree := newTree("vcctl")
	run := func(cmd *cobra.Command) {
		for _, example := range examplesOf(cmd) {
			t.Run(strings.Join(example, " "), func(t *testing.T) {
				e := exampleRun{t: t, cmd: cmd, words: example, world: world, files: files}
				e.run()
			})
		}
	}
	run(tree)
	leaves(tree, run)
}

// exampleRun is one example with its environment.
type exampleRun struct {
	t            *testing.T
	cmd          *cobra.Command
	words        []string
	world, files map[string]client.Object
}

func (e *exampleRun) run() {
	t, server := e.t, clitest.Start(e.t, golden.ClusterObjects()...)
	golden.AddLogs(server)
	golden.AnswerPlans(golden.NewStartingAnswer())(server)
	for _, object := range e.world {
		server.SetObjects(object)
	}
	noun, verb := e.noun()
	file, named := e.files[kindOf[noun]+"/new"], slices.ContainsFunc(e.words, func(word string) bool { return strings.HasSuffix(word, ".yaml") || strings.HasSuffix(word, "/") })
	if noun == "crds" {
		server.OnCreate("CustomResourceDefinition", golden.Establish)
	}
	if file != nil {
		e.write(file)
		if named && verb != "create" && verb != "run" && noun != "plan" {
			there := file.DeepCopyObject().(client.Object)
			if there.GetNamespace() == "" && noun != "queue" {
				there.SetNamespace("nlp")
			}
			server.SetObjects(there)
		}
	}
	if len(e.words) > 2 && verb == "create" && noun == "queue" {
		server.RemoveObject(golden.NewQueue(e.words[2], 1, "", nil))
	}
	if len(e.words) > 2 && verb == "run" {
		server.RemoveObject(golden.NewJob(e.words[2], "default", "", 0))
	}
	switch noun {
	case "slurm":
		e.slurm(server)
	case "history", "report":
		slurmtest.AddAccounting(server)
	}
	follows := verb == "wait" || noun == "doctor" || noun == "slurm" && (verb == "srun" || verb == "salloc") || verb == "logs" && slices.Contains(e.words, "-f") ||
		slices.ContainsFunc(e.words, func(word string) bool { return slices.Contains(goesOn, word) })
	patience := patienceWithCommands
	if follows {
		patience = 500 * time.Millisecond
	}
	code, out := e.end(server, patience)
	want := endsWith[strings.Join(e.words, " ")]
	if code != want && !(follows && code == goesOnCode && !strings.Contains("\n"+out, "\nerror: ")) {
		t.Errorf("vcctl %s ends with %d, want %d:\n%s", strings.Join(e.words, " "), code, want, out)
	}
}

// slurm writes the script that the examples of Slurm commands name, and numbers new jobs as the controller does.
func (e *exampleRun) slurm(server *clitest.Server) {
	if err := os.WriteFile("run.sh", []byte("#!/bin/sh\n#SBATCH -o /dev/null\nhostname\n"), 0o600); err != nil {
		e.t.Fatal(err)
	}
	server.SetObjects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "slurm-profile", Namespace: "nlp"}, Data: map[string]string{"profile.yaml": "defaultImage: busybox"}})
	for id, elements := range map[string]string{"41": "", "42": "0-15", "43": "0-15"} {
		job := golden.NewJob("numbered-"+id, "default", "Running", time.Hour)
		job.Labels = map[string]string{keys.JobID: id}
		if elements != "" {
			job.Annotations = map[string]string{keys.Array: elements}
			job.Spec.Tasks[0].Replicas = 16
		}
		server.SetObjects(job)
	}
	if _, program := e.noun(); program == "sstat" {
		job := golden.NewJob("numbered-36", "default", "Running", time.Hour)
		job.Labels = map[string]string{keys.JobID: "36"}
		server.SetObjects(job, slurmtest.NewPod(job, job.Spec.Tasks[0].Name, 0, "r05n01", corev1.PodRunning))
	}
	slurmtest.AddAccounting(server)
	server.OnCreate("Job", func(job map[string]any) {
		metadata := job["metadata"].(map[string]any)
		labels, _ := metadata["labels"].(map[string]any)
		if labels == nil {
			labels = map[string]any{}
			metadata["labels"] = labels
		}
		labels[keys.JobID] = "1"
	})
}

// noun returns the first two words that are not root flags.
func (e *exampleRun) noun() (noun, verb string) {
	noun = e.words[0]
	if len(e.words) > 1 {
		verb = e.words[1]
	}
	return noun, verb
}

// write writes the files and directories that the example names, each with the given object.
func (e *exampleRun) write(object client.Object) {
	text, err := yaml.Marshal(object)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, word := range e.words {
		path := word
		if strings.HasSuffix(word, "/") {
			path += "one.yaml"
		}
		if !strings.HasSuffix(path, ".yaml") || strings.Contains(path, "://") {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			e.t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			e.t.Fatal(err)
		}
		if slices.Contains(e.words, "-k") {
			if err := os.WriteFile(word+"kustomization.yaml", []byte("resources: [one.yaml]\n"), 0o600); err != nil {
				e.t.Fatal(err)
			}
		}
	}
}

// patienceWithCommands is how long a command may take that does not follow changes, on a busy machine.
const patienceWithCommands = 30 * time.Second

// end runs the example, interrupts it after some time, and returns its exit code and output.
func (e *exampleRun) end(server *clitest.Server, patience time.Duration) (code int, printed string) {
	input := "y\n"
	noun, _ := e.noun()
	if slices.Contains(e.words, "-") {
		text, err := yaml.Marshal(e.files[kindOf[noun]+"/new"])
		if err != nil {
			e.t.Fatal(err)
		}
		input = string(text)
	}
	streams, out, errOut := iostreams.TestStreams(input, 200)
	streams.RunEditor = golden.EditorWith(edited)
	f := cli.NewFactory("vcctl", &streams)
	f.Dashboard = func(context.Context, *cli.Factory, cli.DashboardOptions) error { return nil }
	f.Now = func() time.Time { return golden.Now }
	cache := e.t.TempDir()
	f.Config.CacheDir = &cache
	ctx, cancel := context.WithTimeout(e.t.Context(), 2*patienceWithCommands)
	defer cancel()
	path := server.WriteKubeconfig("nlp")
	text, err := os.ReadFile(path)
	if err != nil {
		e.t.Fatal(err)
	}
	prod := bytes.Replace(text, []byte("contexts: ["), []byte(`contexts: [{name: prod, context: {cluster: c, user: mei}}, `), 1)
	if err := os.WriteFile(path, prod, 0o600); err != nil {
		e.t.Fatal(err)
	}
	ended := make(chan int, 1)
	go func() { ended <- root.Run(ctx, f, append([]string{"--kubeconfig", path}, e.words...)) }()
	select {
	case code = <-ended:
	case <-time.After(patience):
		cancel()
		code = <-ended
	}
	return code, out.String() + errOut.String()
}
