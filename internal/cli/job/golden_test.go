package job_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

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

// crashing makes pods of the job train crash repeatedly, while the scheduler reports no problem.
func crashing(s *clitest.Server) {
	train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	broken := golden.NewPod(train, 1, "192.168.51.67")
	broken.Status.ContainerStatuses[0] = corev1.ContainerStatus{Name: "main", RestartCount: 14, State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 40s restarting failed container"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: golden.TimeAgo(20 * time.Second)}}}
	s.SetObjects(broken)
}

// unmounted gives the pending job plain a pod whose volume cannot be mounted.
func unmounted(s *clitest.Server) {
	plain := golden.NewJob("plain", "default", batchv1alpha1.Pending, 30*time.Second)
	stuck := golden.NewPod(plain, 0, "192.168.51.67")
	stuck.Status.Phase = corev1.PodPending
	stuck.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}}
	placed := golden.NewGroup(plain, schedulingv1beta1.PodGroupRunning, nil)
	s.SetObjects(stuck, placed,
		golden.NewEvent("stuck.1", stuck, "Warning", "FailedMount", "configmap \"old\" not found", 20*time.Second),
		golden.NewEvent("stuck.2", stuck, "Warning", "FailedMount", "configmap \"words\" not found", 10*time.Second),
		golden.NewEvent("stuck.3", stuck, "Warning", "FailedScheduling", "no node was free", 5*time.Second))
}

// waitedBefore gives the running job train a warning from its time in the queue.
func waitedBefore(s *clitest.Server) {
	train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	group := golden.NewGroup(train, schedulingv1beta1.PodGroupRunning, nil)
	s.SetObjects(group, golden.NewEvent("train.before", group, "Warning", "Unschedulable", "room is being made", 2*time.Hour))
}

// onSimulatedNode adds the simulated node of the job's pods that have no log on the server.
func onSimulatedNode(s *clitest.Server) {
	train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	there := golden.NewNode("sim-16")
	there.Labels = map[string]string{keys.NodeKind: "simulated"}
	s.SetObjects(there, golden.NewPod(train, 8, "sim-16"))
}

// neverStarted gives the job train a pod whose program is missing, and one without a command.
func neverStarted(s *clitest.Server) {
	train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	missing, idle := golden.NewPod(train, 3, "192.168.23.24"), golden.NewPod(train, 4, "192.168.23.24")
	missing.Status.Phase = corev1.PodFailed
	missing.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 127, Reason: "StartError", Message: "exec trian: executable file not found in $PATH"}}
	s.SetObjects(missing, idle, golden.NewEvent("idle.1", idle, "Warning", "NoCommand", "Container main has no command: the container waits until it is stopped", time.Minute))
	s.SetLog("nlp/train-worker-3", "")
	s.SetLog("nlp/train-worker-4", "")
}

// ending cancels the job train, whose pods have not ended yet.
func ending(s *clitest.Server) {
	train := golden.NewJob("train", "research", batchv1alpha1.Terminating, 2*time.Hour)
	train.Status.State.Reason, train.Status.State.Message = "TerminateJob", "cancelled by hand (command train-terminatejob-x2v4k)"
	s.SetObjects(train)
}

const (
	jobPath     = "/apis/batch.volcano.sh/v1alpha1/namespaces/nlp/jobs"
	queuePath   = "/apis/scheduling.volcano.sh/v1beta1/queues"
	commandPath = "/apis/bus.volcano.sh/v1alpha1/namespaces/nlp/commands"
)

// commanded checks the wire format of Commands: exactly one is stored, and its owner reference is its job.
func commanded(action, prefix string) func(*testing.T, *clitest.Server) {
	return func(t *testing.T, server *clitest.Server) {
		t.Helper()
		commands := server.ObjectsBelow(commandPath)
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

// completedByOne adds a job of five pods that completed when its master did.
func completedByOne(s *clitest.Server) {
	big := golden.NewJob("big", "default", batchv1alpha1.Completed, time.Hour)
	big.Spec.Tasks[0].Replicas, big.Spec.MinAvailable = 5, 5
	big.Status.Succeeded, big.Status.MinAvailable = 1, 5
	s.SetObjects(big)
}

func TestJobListGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "list", []golden.Run{
		{About: "into a pipe nothing is shortened", Args: "job list"},
		{About: "on a terminal the reason is shortened", Args: "job list", Width: 100},
		{About: "a narrow terminal", Args: "job list", Width: 60},
		{About: "a terminal of 80 columns", Args: "job list", Width: 80},
		{About: "a terminal of 120 columns", Args: "job list", Width: 120},
		{About: "colour", Args: "job list train eval", Width: 120, Color: true},
		{About: "all columns", Args: "job list -o wide", Width: 80},
		{About: "all columns know of pods that crash or do not start", Args: "job list train plain -o wide", Prepare: func(s *clitest.Server) { crashing(s); unmounted(s) }},
		{About: "all namespaces, without titles", Args: "job list -A --no-headers"},
		{About: "named jobs", Args: "job list train job/done vj/eval"},
		{About: "some named jobs are missing", Args: "job list train nosuch"},
		{About: "the newest job", Args: "job list @latest"},
		{About: "filters", Args: "job list --queue research,default --phase pending"},
		{About: "of a user", Args: "job list -A --user mei,otto -o wide", Prepare: owned},
		{About: "on a node", Args: "job list --node 192.168.51.67"},
		{About: "on a node that has none", Args: "job list --node 192.168.63.50"},
		{About: "a pod that has its node and has not started counts as ready", Args: "job list plain", Prepare: unmounted},
		{About: "sorted by what is known from pod groups", Args: "job list --sort-by reason"},
		{About: "wide runes", Args: "job list plain eval", Width: 80, Prepare: wideRunes},
		{About: "forty columns", Args: "job list", Width: 40},
		{About: "by label", Args: "job list -l team=nlp"},
		{About: "sorted by a column, by number", Args: "job list --sort-by gpu"},
		{About: "sorted by a path", Args: "job list --sort-by {.metadata.creationTimestamp}"},
		{About: "names for scripts", Args: "job list -o name"},
		{About: "a path for scripts", Args: "job list done -o jsonpath={.status.state.phase}"},
		{About: "a path over a list", Argv: []string{"job", "list", "-o", "jsonpath={.items[*].metadata.name}"}},
		{About: "columns of one's own", Args: "job list -o custom-columns=NAME:.metadata.name,QUEUE:.spec.queue"},
		{About: "columns that a file names", Args: "job list -o custom-columns-file=testdata/two.columns --no-headers"},
		{About: "a file of columns that do not fit", Args: "job list -o custom-columns-file=testdata/bad.columns"},
		{About: "a file of columns that is not there", Args: "job list -o custom-columns-file=testdata/tow.columns"},
		{About: "a path as JSON", Argv: []string{"job", "list", "done", "-o", "jsonpath-as-json={.status.state.phase}"}},
		{About: "Kubernetes' own YAML", Args: "job list paused -o kyaml"},
		{About: "a template", Argv: []string{"job", "list", "done", "-o", "go-template={{.metadata.name}} is {{.status.state.phase}}{{\"\\n\"}}"}},
		{About: "on any of two nodes", Args: "job list --node 192.168.51.67,192.168.63.50"},
		{About: "a job that a policy completed is not 1 of 5", Args: "job list big", Prepare: completedByOne},
		{About: "an object", Args: "job list done -o json"},
		{About: "Volcano's table", Args: "job list --compat"},
		{About: "Volcano's table of all namespaces", Args: "job list --compat --all-namespaces"},
		{About: "Volcano's selector is a part of the name", Args: "job list --selector a --compat"},
		{About: "no jobs", Args: "job list -n empty"},
		{About: "no jobs, Volcano's way", Args: "job list -n empty --compat"},
		{About: "a namespace from the environment", Args: "job list", Env: map[string]string{"VCCTL_NAMESPACE": "cv"}},
		{About: "a format that does not exist", Args: "job list -o jsn"},
		{About: "a phase that does not exist", Args: "job list --phase Runnin"},
		{About: "a column that does not exist", Args: "job list --sort-by ege"},
		{About: "a bad selector", Args: "job list -l team===x"},
		{About: "an unknown flag", Args: "job list --watc"},
		{About: "forbidden", Args: "job list", Prepare: func(s *clitest.Server) {
			s.RejectRequests("GET", "/apis/batch.volcano.sh", 403, metav1.StatusReasonForbidden, `jobs.batch.volcano.sh is forbidden: User "mei" cannot list resource "jobs"`)
		}},
		{About: "expired credentials", Args: "job list", Prepare: func(s *clitest.Server) {
			s.RejectRequests("GET", "/apis/batch.volcano.sh", 401, metav1.StatusReasonUnauthorized, "Unauthorized")
		}},
		{About: "a cluster without vc", Args: "job list", Prepare: func(s *clitest.Server) {
			s.RejectRequests("GET", "/apis/batch.volcano.sh", 404, metav1.StatusReasonNotFound, "the server could not find the requested resource")
		}},
		{About: "pod groups may not be read: the list still comes", Args: "job list train eval", Prepare: func(s *clitest.Server) {
			s.RejectRequests("GET", "/apis/scheduling.volcano.sh", 403, metav1.StatusReasonForbidden, "no")
		}},
		{About: "a context that does not exist", Args: "job list --context nosuch"},
		{About: "an API server that is not there", Args: "job list --server http://127.0.0.1:1"},
		{About: "no kubeconfig at all", Args: "job list --kubeconfig /dev/null", NoCluster: true},
		{About: "a kubeconfig that is not there", Args: "job list --kubeconfig /nosuch/kubeconfig", NoCluster: true},
	})
}

func TestJobViewGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "view", []golden.Run{
		{About: "a running job", Args: "job view train"},
		{About: "a waiting job ends with the reason", Args: "job view eval", Width: 100},
		{About: "the same on 80 columns", Args: "job view eval", Width: 80},
		{About: "the same on 120 columns, in colour", Args: "job view eval", Width: 120, Color: true},
		{About: "a waiting job under a scheduler without explanations", Args: "job view plain"},
		{About: "a job that waits for its pods to start tells what the node said last", Args: "job view plain", Prepare: unmounted},
		{About: "a job whose pods crash says so", Args: "job view train", Prepare: crashing},
		{About: "a pod on a simulated node is marked", Args: "job view train --events=false", Prepare: onSimulatedNode},
		{About: "a failed job", Args: "job view broken"},
		{About: "a job that is being ended", Args: "job view train --events=false", Prepare: ending},
		{About: "a suspended job", Args: "job view paused"},
		{About: "two jobs, without events", Args: "job view done broken --events=false"},
		{About: "the object", Args: "job view done -o yaml"},
		{About: "Volcano's spelling", Args: "job view -N done"},
		{About: "a job that a policy completed", Args: "job view big --events=false", Prepare: completedByOne},
		{About: "the newest job", Args: "job view @latest -o name"},
		{About: "the newest job where there is none", Args: "job view @latest -n empty"},
		{About: "all jobs, as objects", Args: "job view --all -n cv -o json"},
		{About: "all of a label", Args: "job view -l team=nlp --events=false"},
		{About: "none of a label", Args: "job view -l none=x"},
		{About: "none of a label, for programs", Args: "job view -l none=x -o json"},
		{About: "some that are named are missing, for programs: those that are there come as a List", Args: "job view done nosuch -o json"},
		{About: "a near miss", Args: "job view trian"},
		{About: "no name", Args: "job view"},
		{About: "an unknown verb", Args: "job vew train"},
	})
}

func TestJobExplainGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "explain", []golden.Run{
		{About: "a job that waits, into a pipe", Args: "job explain eval", Report: true},
		{About: "a job that waits, on a terminal", Args: "job explain eval", Width: 80, Report: true},
		{About: "on a wide terminal, in colour", Args: "job explain eval", Width: 120, Color: true, Report: true},
		{About: "on a narrow terminal", Args: "job explain eval", Width: 40, Report: true},
		{About: "all that a scheduler may tell", Args: "job explain eval", Width: 80, Prepare: richlyExplained, Report: true},
		{About: "under a scheduler without explanations", Args: "job explain plain", Width: 80, Prepare: foreign, Report: true},
		{About: "a job whose pods have nodes and do not start", Args: "job explain plain", Prepare: unmounted, Report: true},
		{About: "a running job", Args: "job explain train"},
		{About: "a running job of which the scheduler said something before", Args: "job explain train", Prepare: waitedBefore},
		{About: "a running job whose pods crash", Args: "job explain train", Prepare: crashing},
		{About: "a failed job", Args: "job explain broken"},
		{About: "a job that is done", Args: "job explain done"},
		{About: "a suspended job", Args: "job explain paused", Report: true},
		{About: "two jobs", Args: "job explain train eval", Report: true},
		{About: "everything that waits", Args: "job explain -A", Report: true},
		{About: "nothing waits", Args: "job explain --all -n cv"},
		{About: "the object", Args: "job explain eval -o json", Report: true},
		{About: "the object, without an explanation", Args: "job explain plain -o yaml", Prepare: foreign, Report: true},
		{About: "a path", Args: "job explain eval -o jsonpath={.reason}", Report: true},
		{About: "names", Args: "job explain --all -o name", Report: true},
		{About: "Volcano's spelling", Args: "job explain -N train"},
		{About: "pod groups may not be read", Args: "job explain eval", Report: true, Prepare: func(s *clitest.Server) {
			s.RejectRequests("GET", "/apis/scheduling.volcano.sh", 403, metav1.StatusReasonForbidden, "no")
		}},
		{About: "a near miss", Args: "job explain evla"},
		{About: "no name", Args: "job explain"},
		{About: "names and all", Args: "job explain eval --all"},
		{About: "a watch of several", Args: "job explain -w --all"},
	})
}

// rejectTrials makes the server reject a dry run of a job, with a warning, because its queue does not exist yet.
func rejectTrials(s *clitest.Server) {
	s.HandlePath(jobPath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Has("dryRun") {
			w.Header().Set("Warning", `299 - "there is no queue filed yet"`)
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": 422, "details": {"name": "filed"},
				"message": "Job.batch.volcano.sh \"filed\" is invalid: spec.queue: Invalid value: \"filed\": queue \"filed\" does not exist"}`)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.Copy(w, r.Body)
	}))
}

func TestJobRunGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "run", []golden.Run{
		{About: "from flags", Argv: []string{"job", "run", "hello", "--image", "busybox", "--replicas", "3", "--", "sh", "-c", "echo hi"}, Check: golden.CheckStored(jobPath, 7)},
		{About: "from flags, looked at", Argv: []string{"job", "run", "big", "--image", "pytorch", "--replicas", "8", "--min", "4", "--gpus", "1", "--memory", "16Gi",
			"--queue", "research", "--time", "12h", "--env", "MODE=fast", "--plugin", "svc,ssh", "--dry-run=client", "-o", "yaml", "--", "python", "train.py"}, Check: golden.CheckStored(jobPath, 6)},
		{About: "Volcano's flags and Volcano's words", Args: "job run -N old -n cv -i busybox -m 1 -r 2 -R cpu=500m,memory=50Mi -L cpu=500m,memory=50Mi -S volcano",
			Check: golden.CheckStored("/apis/batch.volcano.sh/v1alpha1/namespaces/cv/jobs", 2)},
		{About: "Volcano's flags, looked at", Args: "job run --name old --requests=cpu=2 --dry-run=client -o json"},
		{About: "Volcano's -R asks for devices, wherever it stands", Args: "job run -N old -R nvidia.com/gpu=8 --dry-run=client -o json"},
		{About: "Volcano's -R after a name", Args: "job run old -R nvidia.com/gpu=8 -r 2 --dry-run=client -o jsonpath={.spec.tasks[0].template.spec.containers[0].resources}"},
		{About: "Volcano's -R above the usual limit", Args: "job run old -R cpu=4 --dry-run=client -o jsonpath={.spec.tasks[0].template.spec.containers[0].resources}"},
		{About: "Volcano's --name beside --cpu and --memory", Args: "job run --name old --cpu 4 --memory 2Gi --dry-run=client -o jsonpath={.spec.tasks[0].template.spec.containers[0].resources}"},
		{About: "what a pod asks for in two ways", Args: "job run old -R cpu=4 --cpu 2", Check: golden.CheckStored(jobPath, 6)},
		{About: "many kinds from standard input, queues first", Args: "job run -f -", Input: golden.JobFile, Check: golden.CheckStored(jobPath, 7)},
		{About: "the server only checks", Args: "job run -f - --dry-run=server", Input: golden.JobFile, Check: golden.CheckStored(jobPath, 6)},
		{About: "two mistakes are both told, and nothing is sent", Args: "job run -f -", Input: badFile, Check: golden.CheckStored(jobPath, 6)},
		{About: "the same without a cluster", Args: "job run -f - --dry-run=client", Input: badFile, NoCluster: true},
		{About: "a field that does not exist is refused, with what was meant", Args: "job run -f -", Input: typoFile, Check: golden.CheckStored(jobPath, 6)},
		{About: "a field that does not exist, let through", Args: "job run -f - --validate=false", Input: typoFile, Check: golden.CheckStored(jobPath, 7)},
		{About: "a way to validate that does not exist", Args: "job run -f - --validate=strickt", Input: golden.JobFile, Check: golden.CheckStored(jobPath, 6)},
		{About: "no such queue, from flags", Args: "job run x --queue reserch"},
		{About: "flags that make no job are all told", Args: "job run x --replicas -1 --min -2 --gpus -1 --time -1s --ttl -1s --restart Sometimes"},
		{About: "more at the least than there are", Args: "job run x --replicas 2 --min 3"},
		{About: "a name that is none", Args: "job run X_1 --task Y_"},
		{About: "a length of time that is none", Args: "job run x --time soon"},
		{About: "a flag without its value", Args: "job run x --image"},
		{About: "a closed queue", Args: "job run x --queue archive", Check: golden.CheckStored(jobPath, 6)},
		{About: "a job that exists", Args: "job run train"},
		{About: "the webhook refuses", Args: "job run x", Prepare: func(s *clitest.Server) {
			s.RejectRequests("POST", "/apis/batch", 403, metav1.StatusReasonForbidden, `admission webhook "validatejob.volcano.sh" denied the request: spec.tasks: too odd`)
		}},
		{About: "forbidden", Args: "job run x", Prepare: func(s *clitest.Server) {
			s.RejectRequests("POST", "/apis/batch", 403, metav1.StatusReasonForbidden, `jobs.batch.volcano.sh is forbidden: User "mei" cannot create resource "jobs" in API group "batch.volcano.sh" in the namespace "nlp"`)
		}},
		{About: "a policy rejects one of several objects, and nothing is sent", Args: "job run -f -", Input: golden.JobFile, Check: golden.CheckStored(queuePath, 3),
			Prepare: func(s *clitest.Server) {
				s.RejectRequests("POST", "/api/v1", 403, metav1.StatusReasonForbidden, `admission webhook "labels.example.com" denied the request: label team is missing`)
			}},
		{About: "some objects are created if a rejection names another one of the file", Args: "job run -f -", Input: golden.JobFile, Check: golden.CheckStored(queuePath, 4),
			Prepare: func(s *clitest.Server) {
				s.RejectRequests("POST", "/apis/batch", 403, metav1.StatusReasonForbidden, `admission webhook "queues.example.com" denied the request: there is no queue fresh`)
			}},
		{About: "a queue and its job of the same name, and a warning of what is not there yet", Args: "job run -f -", Input: strings.ReplaceAll(golden.JobFile, "fresh", "filed"),
			Check: golden.CheckStored(queuePath, 4), Prepare: rejectTrials},
		{About: "a version that our group does not have, without a cluster", Args: "job run -f - --dry-run=client", NoCluster: true, Input: strings.Replace(golden.JobFile, "sh/v1alpha1", "sh/v1", 1)},
		{About: "a kind that our group does not have, without a cluster", Args: "job run -f - --dry-run=client", NoCluster: true, Input: strings.Replace(golden.JobFile, `"Job"`, `"Jbo"`, 1)},
		{About: "no name", Args: "job run"},
		{About: "flags that describe a job, and a file", Args: "job run -f - --replicas 4 -q research --labels a=b", Input: golden.JobFile, Check: golden.CheckStored(jobPath, 6)},
		{About: "flags that describe a job, and a file, Volcano's way", Args: "job run -f - -N x -r 4 --dry-run=client", Input: golden.JobFile},
		{About: "a command without --", Args: "job run x python train.py"},
		{About: "a name and a file", Args: "job run x -f y.yaml"},
		{About: "no such file", Args: "job run -f nosuch.yaml"},
		{About: "a directory without YAML", Args: "job run -f testdata/none"},
		{About: "nothing in the pipe", Args: "job run -f -"},
		{About: "no YAML", Args: "job run -f -", Input: "{{{"},
		{About: "an object without a kind", Args: "job run -f -", Input: "a: b\n"},
		{About: "a wrong type", Args: "job run -f -", Input: "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: x}\nspec: {minAvailable: many}\n"},
		{About: "an amount that is none", Args: "job run x --cpu many --memory -1"},
		{About: "a dry run of a kind that does not exist", Args: "job run x --dry-run=sever"},
		{About: "the namespace of the file against -n", Args: "job run -f - -n cv", Input: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: nlp}\n"},
		{About: "a kind that the cluster does not know", Args: "job run -f -", Input: "apiVersion: x.example.com/v1\nkind: Thing\nmetadata: {name: x}\n"},
	})
}

func TestJobCommandsGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "commands", []golden.Run{
		{About: "suspend", Args: "job suspend train", Check: commanded("AbortJob", "train-abortjob-")},
		{About: "suspend, Volcano's way, is silent", Args: "job suspend -N train", Check: golden.CheckStored(commandPath, 1)},
		{About: "suspend two, some of which cannot be", Args: "job suspend train done nosuch", Check: golden.CheckStored(commandPath, 1)},
		{About: "suspend by label without a terminal needs --yes", Args: "job suspend -l team=nlp", Check: golden.CheckStored(commandPath, 0)},
		{About: "suspend what is suspended", Args: "job suspend paused", Check: golden.CheckStored(commandPath, 0)},
		{About: "resume what runs", Args: "job resume train", Check: golden.CheckStored(commandPath, 0)},
		{About: "resume all finds the suspended one", Args: "job resume --all --yes", Check: golden.CheckStored(commandPath, 1)},
		{About: "suspend all, asked and declined", Args: "job suspend --all", Width: 80, Input: "n\n", Check: golden.CheckStored(commandPath, 0)},
		{About: "a dry run", Args: "job suspend train --dry-run=client", Check: golden.CheckStored(commandPath, 0)},
		{About: "resume", Args: "job resume paused", Check: commanded("ResumeJob", "paused-resumejob-")},
		{About: "resume a job that has ended", Args: "job resume done"},
		{About: "waiting has an end", Args: "job resume paused --wait --timeout 50ms"},
		{About: "restart", Args: "job restart train", Check: commanded("RestartJob", "train-restartjob-")},
		{About: "restart what cannot be", Args: "job restart done paused", Check: golden.CheckStored(commandPath, 0)},
		{About: "restart, looked at", Args: "job restart train -o name --dry-run=server", Check: golden.CheckStored(commandPath, 0)},
		{About: "cancel", Args: "job cancel train eval", Check: golden.CheckStored(commandPath, 2)},
		{About: "cancel one", Args: "job cancel eval", Check: commanded("TerminateJob", "eval-terminatejob-")},
		{About: "cancel what has ended, and what is suspended", Args: "job cancel done paused", Check: golden.CheckStored(commandPath, 1)},
		{About: "cancel all of all namespaces, asked and agreed", Args: "job cancel --all -A", Width: 80, Input: "y\n",
			Check: golden.CheckStored("/apis/bus.volcano.sh/v1alpha1/commands", 5)},
		{About: "a name in all namespaces", Args: "job cancel train -A", Check: golden.CheckStored(commandPath, 0)},
		{About: "wait for what is done", Args: "job wait done"},
		{About: "wait for what failed", Args: "job wait broken"},
		{About: "wait for several, some of which failed", Args: "job wait done broken nosuch"},
		{About: "wait until a job runs", Args: "job wait train --for=running"},
		{About: "wait for success of what is suspended", Args: "job wait paused --for succeeded"},
		{About: "wait until suspended", Args: "job wait paused --for=suspended -o name"},
		{About: "wait until gone what is not there", Args: "job wait nosuch --for=deleted"},
		{About: "wait for a field", Argv: []string{"job", "wait", "train", "--for=jsonpath={.status.running}=3"}},
		{About: "wait in vain", Args: "job wait train eval --timeout 50ms"},
		{About: "wait for jobs of which there are none", Args: "job wait -l typo=x"},
		{About: "wait for all where there is none", Args: "job wait --all -n empty"},
		{About: "wait until those are gone of which there are none", Args: "job wait -l typo=x --for=deleted"},
		{About: "wait by label", Args: "job wait -l team=nlp"},
		{About: "wait for a word that does not exist", Args: "job wait train --for=runing"},
		{About: "wait for a path that is none", Args: "job wait train --for=jsonpath=.status"},
		{About: "wait for nothing", Args: "job wait"},
		{About: "exec without a command", Args: "job exec train"},
		{About: "exec without --", Args: "job exec train ls -l"},
		{About: "exec in a job that waits", Args: "job exec eval -- sh"},
		{About: "exec in a job that has ended", Args: "job exec done -- sh"},
		{About: "exec in a task that does not exist", Args: "job exec train -t wrker -- sh"},
		{About: "exec with kubectl's -it", Args: "job exec -it train -- echo hi"},
		{About: "exec with a flag of the command's before --", Args: "job exec train --long -- ls"},
		{About: "exec in a container that does not exist", Args: "job exec train -i 1 -c mian -- sh"},
		{About: "attach to what has no stdin", Args: "job attach train", Width: 80},
		{About: "attach to no job", Args: "job attach trian"},
		{About: "attach to an index that does not run", Args: "job attach train -t worker -i 7"},
		{About: "delete", Args: "job delete train", Check: golden.CheckStored(jobPath, 5)},
		{About: "delete, Volcano's way", Args: "job delete -N train -n nlp", Check: golden.CheckStored(jobPath, 5)},
		{About: "delete by label, asked and agreed", Args: "job delete -l team=nlp", Width: 80, Input: "y\n", Check: golden.CheckStored(jobPath, 5)},
		{About: "delete all without a terminal needs --yes", Args: "job delete --all", Check: golden.CheckStored(jobPath, 6)},
		{About: "delete what a file made", Args: "job delete -f - --ignore-not-found", Input: "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: train}\n", Check: golden.CheckStored(jobPath, 5)},
		{About: "delete what a file made, a queue and a namespace among it", Args: "job delete -f -", Input: "apiVersion: v1\nkind: Namespace\nmetadata: {name: nlp}\n---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: research}\n---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: train}\n", Check: golden.CheckStored(jobPath, 6)},
		{About: "a server dry run", Args: "job delete train --dry-run=server", Check: golden.CheckStored(jobPath, 6)},
		{About: "delete what is not there", Args: "job delete trian"},
		{About: "delete what is not there, on purpose", Args: "job delete trian --ignore-not-found"},
		{About: "nothing named", Args: "job delete"},
		{About: "names and a label", Args: "job delete train -l a=b"},
		{About: "logs of all pods", Args: "job logs train"},
		{About: "logs in colour", Args: "job logs train -t worker-0", Color: true},
		{About: "logs of one pod, bare", Args: "job logs train -t worker-1 --prefix=false"},
		{About: "logs of a pod on a simulated node", Args: "job logs train -t worker-8", Prepare: onSimulatedNode},
		{About: "logs of pods some of which are on a simulated node", Args: "job logs train", Prepare: onSimulatedNode},
		{About: "logs of a program that is missing", Args: "job logs train -t worker-3", Prepare: neverStarted},
		{About: "logs of a container without a command", Args: "job logs train -t worker-4", Prepare: neverStarted},
		{About: "logs of a waiting job", Args: "job logs eval"},
		{About: "logs of a job without pods", Args: "job logs plain"},
		{About: "logs of a task that does not exist", Args: "job logs train -t wrker"},
		{About: "logs of a pod that the job does not have", Args: "job logs train -t worker-99"},
		{About: "logs of a container that the job does not have", Args: "job logs train -c mian"},
		{About: "logs of failed pods where none failed", Args: "job logs train --failed"},
		{About: "logs of an earlier start where there was none", Args: "job logs train --previous"},
		{About: "a level that is no number", Args: "job logs train -v x"},
		{About: "logs in a format", Args: "job logs train -o json"},
		{About: "logs of no job", Args: "job logs nosuch"},
		{About: "logs of two jobs, of which one says nothing yet", Args: "job logs train eval"},
		{About: "logs of all jobs, in colour", Args: "job logs --all", Color: true},
		{About: "logs of the jobs of all namespaces", Args: "job logs --all -A --tail 1"},
		{About: "logs of jobs that have no pods", Args: "job logs plain paused"},
		{About: "logs by a label that nobody has", Args: "job logs -l team=none"},
		{About: "logs of a job and of a label", Args: "job logs train -l team=nlp"},
		{About: "logs of one task of several jobs", Args: "job logs --all -t worker-0"},
	})
}
