package queue_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

const (
	queuePath        = "/apis/scheduling.volcano.sh/v1beta1/queues"
	queueCommandPath = "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands"
)

func TestQueueGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "queue", []golden.Run{
		{About: "a list", Args: "queue list"},
		{About: "bars on a terminal that can draw them", Args: "queue list", Width: 120, Env: map[string]string{"LANG": "zh_CN.UTF-8", "TERM": "xterm"}},
		{About: "all columns", Args: "queue list research -o wide"},
		{About: "names", Args: "queue list -o name"},
		{About: "Volcano's table", Args: "queue list --compat"},
		{About: "one queue", Args: "queue get research"},
		{About: "one queue, Volcano's way", Args: "queue get -n research --compat"},
		{About: "a path", Args: "queue get research -o jsonpath={.spec.capability.cpu}"},
		{About: "the object", Args: "queue get default -o json"},
		{About: "no name", Args: "queue get"},
		{About: "no such queue", Args: "queue get nosuch"},
		{About: "create", Args: "queue create fresh --weight 2 --capability cpu=4,memory=8Gi", Check: golden.CheckStored(queuePath, 4)},
		{About: "create, looked at", Args: "queue create fresh --weight 2 --capability cpu=4 --dry-run=client -o yaml", Check: golden.CheckStored(queuePath, 3)},
		{About: "create, Volcano's way, is silent", Args: "queue create -n fresh -w 2 -S Open", Check: golden.CheckStored(queuePath, 4)},
		{About: "create what exists", Args: "queue create research"},
		{About: "a change that the server would warn of, only thought of", Args: "queue update archive --parent default --dry-run=client"},
		{About: "create with a bad amount", Args: "queue create fresh --capability cpu", Check: golden.CheckStored(queuePath, 3)},
		{About: "create with a bad weight", Args: "queue create fresh --weight 0", Check: golden.CheckStored(queuePath, 3)},
		{About: "create with limits for jobs", Args: "queue create fresh --max-run-time 24h --default-run-time 1h --max-nodes 4 --max-pods 100 -o jsonpath={.spec.jobLimits}"},
		{About: "create with a default time limit above the maximum", Args: "queue create fresh --max-run-time 1h --default-run-time 2h", Check: golden.CheckStored(queuePath, 3)},
		{About: "create with negative limits for jobs", Args: "queue create fresh --max-run-time -1h --max-pods -1", Check: golden.CheckStored(queuePath, 3)},
		{About: "change one limit for jobs, and remove another one", Args: "queue update research --max-pods 50 --max-run-time 0 -o jsonpath={.spec.jobLimits}", Prepare: limitJobs},
		{About: "remove all limits for jobs", Args: "queue update research --max-pods 0 --max-run-time 0 -o jsonpath={.spec.jobLimits}", Prepare: limitJobs},
		{About: "limits for jobs in a list", Args: "queue list -o wide", Prepare: limitJobs},
		{About: "limits for jobs of a queue and of its parent", Args: "queue view below", Prepare: limitJobs},
		{About: "create nothing", Args: "queue create"},
		{About: "update", Args: "queue update research --weight 5"},
		{About: "update nothing", Args: "queue update research"},
		{About: "close a queue in use needs --yes", Args: "queue close research", Prepare: golden.AnswerPlans(calm()), Check: golden.CheckStored(queueCommandPath, 0)},
		{About: "close a queue in use, agreed", Args: "queue close research --yes", Check: golden.CheckStored(queueCommandPath, 1)},
		{About: "close an empty queue", Args: "queue close default", Check: golden.CheckStored(queueCommandPath, 1)},
		{About: "close the root queue", Args: "queue close root", Check: golden.CheckStored(queueCommandPath, 0)},
		{About: "operate: close the root queue, and some other", Args: "queue operate root default -a close", Check: golden.CheckStored(queueCommandPath, 1)},
		{About: "open", Args: "queue open archive", Check: golden.CheckStored(queueCommandPath, 1)},
		{About: "operate: close, Volcano's way", Args: "queue operate -n research -a close", Check: golden.CheckStored(queueCommandPath, 1)},
		{About: "operate: update", Args: "queue operate research -a update -w 4"},
		{About: "operate: update without a weight", Args: "queue operate research -a update"},
		{About: "operate: no action", Args: "queue operate research"},
		{About: "operate: an unknown action", Args: "queue operate research -a clsoe"},
		{About: "operate: a weight, and no action", Args: "queue operate -n research -w 5"},
		{About: "operate: a weight, and an unknown action", Args: "queue operate -n research -a shut -w 5"},
		{About: "operate: a weight that is not for closing, and no name", Args: "queue operate -a close -w 5"},
		{About: "operate: no name", Args: "queue operate -a open"},
		{About: "operate: no such queue", Args: "queue operate reserch -a open"},
		{About: "delete", Args: "queue delete archive", Check: deletedByUID},
		{About: "delete, Volcano's way, is silent", Args: "queue delete -n archive", Check: golden.CheckStored(queuePath, 2)},
		{About: "delete what is not there", Args: "queue delete archiv", Check: golden.CheckStored(queuePath, 3)},
		{About: "delete a queue in use needs --yes", Args: "queue delete research", Check: golden.CheckStored(queuePath, 3)},
		{About: "delete a queue in use, agreed", Args: "queue delete research -y", Check: golden.CheckStored(queuePath, 2)},
		{About: "delete by label needs --yes", Args: "queue delete -l !team", Check: golden.CheckStored(queuePath, 3)},
		{About: "delete the root queue", Args: "queue delete root -y", Check: golden.CheckStored(queuePath, 4), Prepare: func(s *clitest.Server) {
			s.SetObjects(&schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "root"}})
		}},
		{About: "the webhook refuses a delete", Args: "queue delete default", Prepare: func(s *clitest.Server) {
			s.RejectRequests("DELETE", queuePath, 403, metav1.StatusReasonForbidden, `admission webhook "validatequeue.volcano.sh" denied the request: the default queue stays`)
		}},
	})
}

// limitJobs limits the jobs of the queue research and of a queue below it.
func limitJobs(s *clitest.Server) {
	s.SetObjects(
		golden.NewQueue("research", 3, schedulingv1beta1.QueueStateOpen, func(q *schedulingv1beta1.Queue) {
			q.Spec.JobLimits = &schedulingv1beta1.JobLimits{MaxRunTime: &metav1.Duration{Duration: 36 * time.Hour}, MaxPods: new(int32(100))}
		}),
		golden.NewQueue("below", 1, schedulingv1beta1.QueueStateOpen, func(q *schedulingv1beta1.Queue) {
			q.Spec.Parent = "research"
			q.Spec.JobLimits = &schedulingv1beta1.JobLimits{DefaultRunTime: &metav1.Duration{Duration: 90 * time.Minute}, MaxNodes: new(int32(4))}
		}))
}

const filed = `apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: fresh, labels: {team: nlp}}
spec: {weight: 2, capability: {cpu: 8}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: below}
spec: {parent: fresh, capability: {cpu: 4}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
`

// weighsMore is a user's edit: it raises the weight of the queue research.
func weighsMore(text string) string { return strings.Replace(text, "weight: 3", "weight: 5", 1) }

// TestEveryQueueCommandGolden runs each command on two terminals, into a pipe, with -o json and with an error.
func TestEveryQueueCommandGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "every", golden.RunsForCommands(
		golden.Command{Args: "queue list", Wrong: "queue list --sort-by wieght", Prepare: family},
		golden.Command{Args: "queue get research", Wrong: "queue get reserch"},
		golden.Command{Args: "queue create fresh --weight 2 --parent research", Wrong: "queue create fresh --parent reserch"},
		golden.Command{Args: "queue create -f - --dry-run=server", Wrong: "queue create -f - --parent research", Input: filed, WrongPrepare: family},
		golden.Command{Args: "queue update research --weight 5", Wrong: "queue update research --deserved cpu=64"},
		golden.Command{Args: "queue edit research", Editor: weighsMore, Wrong: "queue edit reserch"},
		golden.Command{Args: "queue open archive", Wrong: "queue open archvie"},
		golden.Command{Args: "queue close default", Wrong: "queue close root"},
		golden.Command{Args: "queue operate default --action close", Wrong: "queue operate default --action shut"},
		golden.Command{Args: "queue delete archive", Wrong: "queue delete default"},
	))
}

// A namespace from the environment never becomes the name of a queue; only a typed -n does.
func TestTheNamespaceOfTheEnvironmentIsNoQueueGolden(t *testing.T) {
	t.Parallel()
	env := map[string]string{"VCCTL_NAMESPACE": "research"}
	var runs []golden.Run
	for _, words := range []string{"get", "create", "update --weight 5", "open", "close --yes", "operate -a close", "operate -a update -w 4", "delete --yes", "delete --dry-run=client"} {
		runs = append(runs, golden.Run{About: words, Args: "queue " + words, Env: env, Check: untouched})
	}
	runs = append(runs, golden.Run{About: "-n that is typed goes before it, as Volcano's scripts say it", Args: "queue operate -n default -a close", Env: env, Check: golden.CheckStored(queueCommandPath, 1)},
		golden.Run{About: "so does a name", Args: "queue get default", Env: env})
	golden.CompareRuns(t, "environment", runs)
}

// deletedByUID fails unless the queue archive was deleted with its UID as a precondition.
func deletedByUID(t *testing.T, s *clitest.Server) {
	t.Helper()
	golden.CheckStored(queuePath, 2)(t, s)
	at := slices.Index(s.Requests(), "DELETE "+queuePath+"/archive")
	if at < 0 || !strings.Contains(s.Bodies()[at], `"preconditions":{"uid":"uid-queue-archive"}`) {
		t.Errorf("no deletion of the queue with this UID: %q", s.Bodies())
	}
}

// untouched fails if queues were created or deleted, or Commands were created.
func untouched(t *testing.T, s *clitest.Server) {
	t.Helper()
	golden.CheckStored(queuePath, 3)(t, s)
	golden.CheckStored(queueCommandPath, 0)(t, s)
}

// Queues can be selected by files and labels as well as by names.
func TestQueuesOfFilesAndLabelsGolden(t *testing.T) {
	t.Parallel()
	there := func(s *clitest.Server) {
		for _, name := range []string{"fresh", "below"} {
			s.SetObjects(golden.NewQueue(name, 1, schedulingv1beta1.QueueStateOpen, func(q *schedulingv1beta1.Queue) {
				q.Labels = map[string]string{"team": "nlp", "kept": "yes"}
				if name == "below" {
					q.Spec.Parent = "fresh"
				}
			}))
		}
	}
	golden.CompareRuns(t, "files", []golden.Run{
		{About: "a tree is made at once", Args: "queue create -f -", Input: filed, Check: golden.CheckStored(queuePath, 5)},
		{About: "with an annotation that nobody reads, only thought of", Args: "queue create -f - --dry-run=client", Check: golden.CheckStored(queuePath, 3),
			Input: strings.Replace(filed, "name: fresh,", "name: fresh, annotations: {vc-batch.dev/queue-stat: Closed},", 1)},
		{About: "with a flag that counts for all", Args: "queue create -f - --weight 7 --dry-run=client -o jsonpath={.spec.weight}", Input: filed, Check: golden.CheckStored(queuePath, 3)},
		{About: "more below than above", Args: "queue create -f -", Input: strings.Replace(filed, "cpu: 4", "cpu: 16", 1), Check: golden.CheckStored(queuePath, 3)},
		{About: "a field that no queue has", Args: "queue create -f -", Input: strings.Replace(filed, "capability", "capabilty", 1), Check: golden.CheckStored(queuePath, 3)},
		{About: "update by a field that no queue has", Args: "queue update -f -", Input: strings.Replace(filed, "capability", "capabilty", 1), Prepare: there},
		{About: "an update of a weight by a file", Args: "queue operate -f - --action update --weight 3", Input: filed, Prepare: there},
		{About: "a weight that closing does not change", Args: "queue operate fresh --action close --weight 3", Prepare: there},
		{About: "a file without a queue", Args: "queue create -f -", Input: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"},
		{About: "names and a file", Args: "queue create fresh -f -", Input: filed},
		{About: "get those of a file", Args: "queue get -f - -o name", Input: filed, Prepare: there},
		{About: "update by a file", Args: "queue update -f - -o jsonpath={.spec.capability.cpu},{.metadata.labels.kept};", Input: filed, Prepare: there},
		{About: "close those of a label", Args: "queue close -l team=nlp --yes", Prepare: there, Check: golden.CheckStored(queueCommandPath, 2)},
		{About: "close those of a label, and nobody to ask", Args: "queue close -l team=nlp", Prepare: there, Check: golden.CheckStored(queueCommandPath, 0)},
		{About: "delete those of a file, the lower one first", Args: "queue delete -f -", Input: filed, Prepare: there, Check: golden.CheckStored(queuePath, 3)},
		{About: "delete the upper one only", Args: "queue delete fresh", Prepare: there, Check: golden.CheckStored(queuePath, 5)},
		{About: "delete one that may not be there", Args: "queue delete nosuch archive --ignore-not-found", Check: golden.CheckStored(queuePath, 2)},
	})
}

// The job counts of a queue are in its status. Listing the PodGroups of all namespaces would need rights that most
// users do not have.
func TestQueueListAsksForQueuesOnly(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	golden.Run{Args: "queue list"}.RunAgainst(t, server)
	if got := server.Requests(); len(got) != 1 || got[0] != "GET "+queuePath {
		t.Errorf("requests: %v", got)
	}
}
