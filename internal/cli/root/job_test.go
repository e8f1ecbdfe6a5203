package root

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli/clitest"
)

const jobFile = `{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "filed"},
 "spec": {"queue": "fresh", "minAvailable": 1, "tasks": [{"name": "main", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}]}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: fresh}
spec: {weight: 1}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: script}
data:
  run.sh: |
    echo one
    ---
    echo two
`

const badFile = `apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: bad}
spec:
  queue: reserch
  minAvailable: 5
  tasks:
  - name: main
    replicas: 1
    template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}}
`

const typoFile = `apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: typo}
spec:
  minAvailble: 1
  tasks:
  - name: main
    replicas: 1
    template: {spec: {restartPolicy: Never, contaners: [], containers: [{name: main, image: busybox}]}}
`

// crashing turns pods of the job train into ones that do not stay up, under a
// scheduler that is content.
func crashing(s *clitest.Server) {
	train := newJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	broken := pod(train, 1, "192.168.51.67")
	broken.Status.ContainerStatuses[0] = corev1.ContainerStatus{Name: "main", RestartCount: 14, State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 40s restarting failed container"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: ago(20 * time.Second)}}}
	s.Set(broken)
}

// unmounted gives the waiting job plain a pod whose volume cannot be mounted.
func unmounted(s *clitest.Server) {
	plain := newJob("plain", "default", batchv1alpha1.Pending, 30*time.Second)
	stuck := pod(plain, 0, "192.168.51.67")
	stuck.Status.Phase = corev1.PodPending
	stuck.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}}
	placed := group(plain, schedulingv1beta1.PodGroupRunning, nil)
	s.Set(stuck, placed,
		event("stuck.1", stuck, "Warning", "FailedMount", "configmap \"old\" not found", 20*time.Second),
		event("stuck.2", stuck, "Warning", "FailedMount", "configmap \"words\" not found", 10*time.Second),
		event("stuck.3", stuck, "Warning", "FailedScheduling", "no node was free", 5*time.Second))
}

// onSimulatedNode puts the node under the job's pods that the server knows no log of.
func onSimulatedNode(s *clitest.Server) {
	train := newJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	there := node("sim-16")
	there.Labels = map[string]string{keys.NodeKind: "simulated"}
	s.Set(there, pod(train, 8, "sim-16"))
}

// neverStarted gives the job train a pod whose program is missing, and one without a command.
func neverStarted(s *clitest.Server) {
	train := newJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	missing, idle := pod(train, 3, "192.168.23.24"), pod(train, 4, "192.168.23.24")
	missing.Status.Phase = corev1.PodFailed
	missing.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 127, Reason: "StartError", Message: "exec trian: executable file not found in $PATH"}}
	s.Set(missing, idle, event("idle.1", idle, "Warning", "NoCommand", "Container main has no command: the container waits until it is stopped", time.Minute))
	s.Log("nlp/train-worker-3", "")
	s.Log("nlp/train-worker-4", "")
}

func stored(path string, want int) func(*testing.T, *clitest.Server) {
	return func(t *testing.T, server *clitest.Server) {
		t.Helper()
		if got := server.Objects(path); len(got) != want {
			t.Errorf("%s holds %d objects, want %d: %v", path, len(got), want, got)
		}
	}
}

const (
	jobPath     = "/apis/batch.volcano.sh/v1alpha1/namespaces/nlp/jobs"
	commandPath = "/apis/bus.volcano.sh/v1alpha1/namespaces/nlp/commands"
)

// commanded checks the wire contract of Commands: one is stored, aimed at its
// job by an owner reference.
func commanded(action, prefix string) func(*testing.T, *clitest.Server) {
	return func(t *testing.T, server *clitest.Server) {
		t.Helper()
		commands := server.Objects(commandPath)
		if len(commands) != 1 {
			t.Fatalf("%d commands, want 1", len(commands))
		}
		command := commands[0]
		meta := command["metadata"].(map[string]any)
		owners, _ := meta["ownerReferences"].([]any)
		if command["action"] != action || !strings.HasPrefix(meta["name"].(string), prefix) || len(owners) != 1 {
			t.Fatalf("command %v, want action %s, name %s… and an owner", command, action, prefix)
		}
		if diff := cmp.Diff(owners[0], command["target"]); diff != "" {
			t.Errorf("the target is not the owner: %s", diff)
		}
		if target := command["target"].(map[string]any); target["kind"] != "Job" || target["uid"] == "" || target["controller"] != true {
			t.Errorf("target %v", target)
		}
	}
}

func TestJobListGolden(t *testing.T) {
	t.Parallel()
	golden(t, "job-list", []run{
		{about: "into a pipe nothing is shortened", args: "job list"},
		{about: "on a terminal the reason is shortened", args: "job list", width: 100},
		{about: "a narrow terminal", args: "job list", width: 60},
		{about: "a terminal of 80 columns", args: "job list", width: 80},
		{about: "a terminal of 120 columns", args: "job list", width: 120},
		{about: "colour", args: "job list train eval", width: 120, color: true},
		{about: "all columns", args: "job list -o wide", width: 80},
		{about: "all columns know of pods that crash or do not start", args: "job list train plain -o wide", prepare: func(s *clitest.Server) { crashing(s); unmounted(s) }},
		{about: "all namespaces, without titles", args: "job list -A --no-headers"},
		{about: "named jobs", args: "job list train job/done vj/eval"},
		{about: "some named jobs are missing", args: "job list train nosuch"},
		{about: "filters", args: "job list --queue research,default --phase pending"},
		{about: "of a user", args: "job list -A --user mei,otto -o wide", prepare: owned},
		{about: "on a node", args: "job list --node 192.168.51.67"},
		{about: "on a node that has none", args: "job list --node 192.168.63.50"},
		{about: "a pod that has its node and has not started counts as ready", args: "job list plain", prepare: unmounted},
		{about: "sorted by what is known from pod groups", args: "job list --sort-by reason"},
		{about: "wide runes", args: "job list plain eval", width: 80, prepare: wideRunes},
		{about: "forty columns", args: "job list", width: 40},
		{about: "by label", args: "job list -l team=nlp"},
		{about: "sorted by a column, by number", args: "job list --sort-by gpu"},
		{about: "sorted by a path", args: "job list --sort-by {.metadata.creationTimestamp}"},
		{about: "names for scripts", args: "job list -o name"},
		{about: "a path for scripts", args: "job list done -o jsonpath={.status.state.phase}"},
		{about: "a path over a list", argv: []string{"job", "list", "-o", "jsonpath={.items[*].metadata.name}"}},
		{about: "columns of one's own", args: "job list -o custom-columns=NAME:.metadata.name,QUEUE:.spec.queue"},
		{about: "an object", args: "job list done -o json"},
		{about: "Volcano's table", args: "job list --compat"},
		{about: "Volcano's table of all namespaces", args: "job list --compat --all-namespaces"},
		{about: "Volcano's selector is a part of the name", args: "job list --selector a --compat"},
		{about: "no jobs", args: "job list -n empty"},
		{about: "no jobs, Volcano's way", args: "job list -n empty --compat"},
		{about: "a namespace from the environment", args: "job list", env: map[string]string{"VCCTL_NAMESPACE": "cv"}},
		{about: "a format that does not exist", args: "job list -o jsn"},
		{about: "a phase that does not exist", args: "job list --phase Runnin"},
		{about: "a column that does not exist", args: "job list --sort-by ege"},
		{about: "a bad selector", args: "job list -l team===x"},
		{about: "an unknown flag", args: "job list --watc"},
		{about: "forbidden", args: "job list", prepare: func(s *clitest.Server) {
			s.Refuse("GET", "/apis/batch.volcano.sh", 403, metav1.StatusReasonForbidden, `jobs.batch.volcano.sh is forbidden: User "mei" cannot list resource "jobs"`)
		}},
		{about: "expired credentials", args: "job list", prepare: func(s *clitest.Server) {
			s.Refuse("GET", "/apis/batch.volcano.sh", 401, metav1.StatusReasonUnauthorized, "Unauthorized")
		}},
		{about: "a cluster without vc", args: "job list", prepare: func(s *clitest.Server) {
			s.Refuse("GET", "/apis/batch.volcano.sh", 404, metav1.StatusReasonNotFound, "the server could not find the requested resource")
		}},
		{about: "pod groups may not be read: the list still comes", args: "job list train eval", prepare: func(s *clitest.Server) {
			s.Refuse("GET", "/apis/scheduling.volcano.sh", 403, metav1.StatusReasonForbidden, "no")
		}},
		{about: "a context that does not exist", args: "job list --context nosuch"},
		{about: "an API server that is not there", args: "job list --server http://127.0.0.1:1"},
		{about: "no kubeconfig at all", args: "job list --kubeconfig /dev/null", noCluster: true},
		{about: "a kubeconfig that is not there", args: "job list --kubeconfig /nosuch/kubeconfig", noCluster: true},
	})
}

func TestJobViewGolden(t *testing.T) {
	t.Parallel()
	golden(t, "job-view", []run{
		{about: "a running job", args: "job view train"},
		{about: "a waiting job ends with the reason", args: "job view eval", width: 100},
		{about: "the same on 80 columns", args: "job view eval", width: 80},
		{about: "the same on 120 columns, in colour", args: "job view eval", width: 120, color: true},
		{about: "a waiting job under a scheduler without explanations", args: "job view plain"},
		{about: "a job that waits for its pods to start tells what the node said last", args: "job view plain", prepare: unmounted},
		{about: "a job whose pods crash says so", args: "job view train", prepare: crashing},
		{about: "a pod on a simulated node is marked", args: "job view train --events=false", prepare: onSimulatedNode},
		{about: "a failed job", args: "job view broken"},
		{about: "a suspended job", args: "job view paused"},
		{about: "two jobs, without events", args: "job view done broken --events=false"},
		{about: "the object", args: "job view done -o yaml"},
		{about: "Volcano's spelling", args: "job view -N done"},
		{about: "a near miss", args: "job view trian"},
		{about: "no name", args: "job view"},
		{about: "an unknown verb", args: "job vew train"},
	})
}

func TestJobExplainGolden(t *testing.T) {
	t.Parallel()
	golden(t, "job-explain", []run{
		{about: "a job that waits, into a pipe", args: "job explain eval", report: true},
		{about: "a job that waits, on a terminal", args: "job explain eval", width: 80, report: true},
		{about: "on a wide terminal, in colour", args: "job explain eval", width: 120, color: true, report: true},
		{about: "on a narrow terminal", args: "job explain eval", width: 40, report: true},
		{about: "all that a scheduler may tell", args: "job explain eval", width: 80, prepare: richlyExplained, report: true},
		{about: "under a scheduler without explanations", args: "job explain plain", width: 80, prepare: foreign, report: true},
		{about: "a job whose pods have nodes and do not start", args: "job explain plain", prepare: unmounted, report: true},
		{about: "a running job", args: "job explain train"},
		{about: "a running job whose pods crash", args: "job explain train", prepare: crashing},
		{about: "a failed job", args: "job explain broken"},
		{about: "a job that is done", args: "job explain done"},
		{about: "a suspended job", args: "job explain paused", report: true},
		{about: "two jobs", args: "job explain train eval", report: true},
		{about: "everything that waits", args: "job explain -A", report: true},
		{about: "nothing waits", args: "job explain --all -n cv"},
		{about: "the object", args: "job explain eval -o json", report: true},
		{about: "the object, without an explanation", args: "job explain plain -o yaml", prepare: foreign, report: true},
		{about: "a path", args: "job explain eval -o jsonpath={.reason}", report: true},
		{about: "names", args: "job explain --all -o name", report: true},
		{about: "Volcano's spelling", args: "job explain -N train"},
		{about: "pod groups may not be read", args: "job explain eval", report: true, prepare: func(s *clitest.Server) {
			s.Refuse("GET", "/apis/scheduling.volcano.sh", 403, metav1.StatusReasonForbidden, "no")
		}},
		{about: "a near miss", args: "job explain evla"},
		{about: "no name", args: "job explain"},
		{about: "names and all", args: "job explain eval --all"},
		{about: "a watch of several", args: "job explain -w --all"},
	})
}

func TestJobRunGolden(t *testing.T) {
	t.Parallel()
	golden(t, "job-run", []run{
		{about: "from flags", argv: []string{"job", "run", "hello", "--image", "busybox", "--replicas", "3", "--", "sh", "-c", "echo hi"}, check: stored(jobPath, 7)},
		{about: "from flags, looked at", argv: []string{"job", "run", "big", "--image", "pytorch", "--replicas", "8", "--min", "4", "--gpus", "1", "--memory", "16Gi",
			"--queue", "research", "--time", "12h", "--env", "MODE=fast", "--plugin", "svc,ssh", "--dry-run=client", "-o", "yaml", "--", "python", "train.py"}, check: stored(jobPath, 6)},
		{about: "Volcano's flags and Volcano's words", args: "job run -N old -n cv -i busybox -m 1 -r 2 -R cpu=500m,memory=50Mi -L cpu=500m,memory=50Mi -S volcano",
			check: stored("/apis/batch.volcano.sh/v1alpha1/namespaces/cv/jobs", 2)},
		{about: "Volcano's flags, looked at", args: "job run --name old --requests=cpu=2 --dry-run=client -o json"},
		{about: "Volcano's -R asks for devices, wherever it stands", args: "job run -N old -R nvidia.com/gpu=8 --dry-run=client -o json"},
		{about: "Volcano's -R after a name", args: "job run old -R nvidia.com/gpu=8 -r 2 --dry-run=client -o jsonpath={.spec.tasks[0].template.spec.containers[0].resources}"},
		{about: "Volcano's -R above the usual limit", args: "job run old -R cpu=4 --dry-run=client -o jsonpath={.spec.tasks[0].template.spec.containers[0].resources}"},
		{about: "many kinds from standard input, queues first", args: "job run -f -", input: jobFile, check: stored(jobPath, 7)},
		{about: "the server only checks", args: "job run -f - --dry-run=server", input: jobFile, check: stored(jobPath, 6)},
		{about: "two mistakes are both told, and nothing is sent", args: "job run -f -", input: badFile, check: stored(jobPath, 6)},
		{about: "the same without a cluster", args: "job run -f - --dry-run=client", input: badFile, noCluster: true},
		{about: "a field that does not exist is refused, with what was meant", args: "job run -f -", input: typoFile, check: stored(jobPath, 6)},
		{about: "a field that does not exist, let through", args: "job run -f - --validate=false", input: typoFile, check: stored(jobPath, 7)},
		{about: "a way to validate that does not exist", args: "job run x --validate=strickt", check: stored(jobPath, 6)},
		{about: "a closed queue", args: "job run x --queue archive", check: stored(jobPath, 6)},
		{about: "a job that exists", args: "job run train"},
		{about: "the webhook refuses", args: "job run x", prepare: func(s *clitest.Server) {
			s.Refuse("POST", "/apis/batch", 403, metav1.StatusReasonForbidden, `admission webhook "validatejob.volcano.sh" denied the request: spec.tasks: too odd`)
		}},
		{about: "forbidden", args: "job run x", prepare: func(s *clitest.Server) {
			s.Refuse("POST", "/apis/batch", 403, metav1.StatusReasonForbidden, `jobs.batch.volcano.sh is forbidden: User "mei" cannot create resource "jobs" in API group "batch.volcano.sh" in the namespace "nlp"`)
		}},
		{about: "no name", args: "job run"},
		{about: "a command without --", args: "job run x python train.py"},
		{about: "a name and a file", args: "job run x -f y.yaml"},
		{about: "no such file", args: "job run -f nosuch.yaml"},
		{about: "no YAML", args: "job run -f -", input: "{{{"},
		{about: "an object without a kind", args: "job run -f -", input: "a: b\n"},
		{about: "a wrong type", args: "job run -f -", input: "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: x}\nspec: {minAvailable: many}\n"},
		{about: "an amount that is none", args: "job run x --cpu many --memory -1"},
		{about: "a dry run of a kind that does not exist", args: "job run x --dry-run=sever"},
		{about: "the namespace of the file against -n", args: "job run -f - -n cv", input: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: nlp}\n"},
		{about: "a kind that the cluster does not know", args: "job run -f -", input: "apiVersion: x.example.com/v1\nkind: Thing\nmetadata: {name: x}\n"},
	})
}

func TestJobCommandsGolden(t *testing.T) {
	t.Parallel()
	golden(t, "job-commands", []run{
		{about: "suspend", args: "job suspend train", check: commanded("AbortJob", "train-abortjob-")},
		{about: "suspend, Volcano's way, is silent", args: "job suspend -N train", check: stored(commandPath, 1)},
		{about: "suspend two, some of which cannot be", args: "job suspend train done nosuch", check: stored(commandPath, 1)},
		{about: "suspend by label without a terminal needs --yes", args: "job suspend -l team=nlp", check: stored(commandPath, 0)},
		{about: "suspend what is suspended", args: "job suspend paused", check: stored(commandPath, 0)},
		{about: "resume what runs", args: "job resume train", check: stored(commandPath, 0)},
		{about: "resume all finds the suspended one", args: "job resume --all --yes", check: stored(commandPath, 1)},
		{about: "suspend all, asked and declined", args: "job suspend --all", width: 80, input: "n\n", check: stored(commandPath, 0)},
		{about: "a dry run", args: "job suspend train --dry-run=client", check: stored(commandPath, 0)},
		{about: "resume", args: "job resume paused", check: commanded("ResumeJob", "paused-resumejob-")},
		{about: "resume a job that has ended", args: "job resume done"},
		{about: "waiting has an end", args: "job resume paused --wait --timeout 50ms"},
		{about: "restart", args: "job restart train", check: commanded("RestartJob", "train-restartjob-")},
		{about: "restart what cannot be", args: "job restart done paused", check: stored(commandPath, 0)},
		{about: "restart, looked at", args: "job restart train -o name --dry-run=server", check: stored(commandPath, 0)},
		{about: "cancel", args: "job cancel train eval", check: stored(commandPath, 2)},
		{about: "cancel one", args: "job cancel eval", check: commanded("TerminateJob", "eval-terminatejob-")},
		{about: "cancel what has ended, and what is suspended, which some are", args: "job cancel done paused", check: stored(commandPath, 0)},
		{about: "cancel all of all namespaces, asked and agreed", args: "job cancel --all -A", width: 80, input: "y\n",
			check: stored("/apis/bus.volcano.sh/v1alpha1/commands", 4)},
		{about: "a name in all namespaces", args: "job cancel train -A", check: stored(commandPath, 0)},
		{about: "wait for what is done", args: "job wait done"},
		{about: "wait for what failed", args: "job wait broken"},
		{about: "wait for several, some of which failed", args: "job wait done broken nosuch"},
		{about: "wait until a job runs", args: "job wait train --for=running"},
		{about: "wait for success of what is suspended", args: "job wait paused --for succeeded"},
		{about: "wait until suspended", args: "job wait paused --for=suspended -o name"},
		{about: "wait until gone what is not there", args: "job wait nosuch --for=deleted"},
		{about: "wait for a field", argv: []string{"job", "wait", "train", "--for=jsonpath={.status.running}=3"}},
		{about: "wait in vain", args: "job wait train eval --timeout 50ms"},
		{about: "wait by label", args: "job wait -l team=nlp"},
		{about: "wait for a word that does not exist", args: "job wait train --for=runing"},
		{about: "wait for a path that is none", args: "job wait train --for=jsonpath=.status"},
		{about: "wait for nothing", args: "job wait"},
		{about: "exec without a command", args: "job exec train"},
		{about: "exec without --", args: "job exec train ls -l"},
		{about: "exec in a job that waits", args: "job exec eval -- sh"},
		{about: "exec in a job that has ended", args: "job exec done -- sh"},
		{about: "exec in a task that does not exist", args: "job exec train -t wrker -- sh"},
		{about: "exec in a container that does not exist", args: "job exec train -i 1 -c mian -- sh"},
		{about: "attach to no job", args: "job attach trian"},
		{about: "attach to an index that does not run", args: "job attach train -t worker -i 7"},
		{about: "delete", args: "job delete train", check: stored(jobPath, 5)},
		{about: "delete, Volcano's way", args: "job delete -N train -n nlp", check: stored(jobPath, 5)},
		{about: "delete by label, asked and agreed", args: "job delete -l team=nlp", width: 80, input: "y\n", check: stored(jobPath, 5)},
		{about: "delete all without a terminal needs --yes", args: "job delete --all", check: stored(jobPath, 6)},
		{about: "delete what a file made", args: "job delete -f - --ignore-not-found", input: "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: train}\n", check: stored(jobPath, 5)},
		{about: "a server dry run", args: "job delete train --dry-run=server", check: stored(jobPath, 6)},
		{about: "delete what is not there", args: "job delete trian"},
		{about: "delete what is not there, on purpose", args: "job delete trian --ignore-not-found"},
		{about: "nothing named", args: "job delete"},
		{about: "names and a label", args: "job delete train -l a=b"},
		{about: "logs of all pods", args: "job logs train"},
		{about: "logs in colour", args: "job logs train -t worker-0", color: true},
		{about: "logs of one pod, bare", args: "job logs train -t worker-1 --prefix=false"},
		{about: "logs of a pod on a simulated node", args: "job logs train -t worker-8", prepare: onSimulatedNode},
		{about: "logs of pods some of which are on a simulated node", args: "job logs train", prepare: onSimulatedNode},
		{about: "logs of a program that is missing", args: "job logs train -t worker-3", prepare: neverStarted},
		{about: "logs of a container without a command", args: "job logs train -t worker-4", prepare: neverStarted},
		{about: "logs of a waiting job", args: "job logs eval"},
		{about: "logs of a job without pods", args: "job logs plain"},
		{about: "logs of a task that does not exist", args: "job logs train -t wrker"},
		{about: "logs of no job", args: "job logs nosuch"},
		{about: "logs of two jobs", args: "job logs train eval"},
	})
}
