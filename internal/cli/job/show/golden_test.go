package show_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

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

// ending cancels the job train, whose pods have not ended yet.
func ending(s *clitest.Server) {
	train := golden.NewJob("train", "research", batchv1alpha1.Terminating, 2*time.Hour)
	train.Status.State.Reason, train.Status.State.Message = "TerminateJob", "cancelled by hand (command train-terminatejob-x2v4k)"
	s.SetObjects(train)
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
		{About: "a pod on a simulated node is marked", Args: "job view train --events=false", Prepare: golden.AddSimulatedNode},
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
