package queue_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// family adds a tree of queues to the cluster: infra and research are below eng, and research has borrowed two GPUs
// from infra and one that no queue deserves. The usage of root is unknown.
func family(s *clitest.Server) {
	child := func(name, parent, gpus, holds string, running, waiting int32) *schedulingv1beta1.Queue {
		return golden.NewQueue(name, 1, schedulingv1beta1.QueueStateOpen, func(q *schedulingv1beta1.Queue) {
			q.Spec.Parent = parent
			q.Spec.Capability = golden.NewResources("cpu", "32", "nvidia.com/gpu", "16")
			q.Spec.Deserved = golden.NewResources("nvidia.com/gpu", gpus)
			q.Status.Deserved = golden.NewResources("nvidia.com/gpu", gpus)
			q.Status.Allocated = golden.NewResources("cpu", holds, "memory", "4Gi", "nvidia.com/gpu", holds, "pods", holds)
			q.Status.Running, q.Status.Pending, q.Status.Waiting, q.Status.Share = running, waiting, waiting, 100
		})
	}
	s.SetObjects(
		golden.NewQueue("root", 1, schedulingv1beta1.QueueStateOpen, func(q *schedulingv1beta1.Queue) { q.Spec.Parent = "" }),
		child("eng", "root", "8", "7", 0, 0),
		child("infra", "eng", "4", "2", 1, 2),
		child("research", "eng", "2", "5", 2, 0),
		golden.NewQueue("lost", 1, schedulingv1beta1.QueueStateOpen, func(q *schedulingv1beta1.Queue) {
			q.Spec.Parent = "nowhere"
			q.Status.Conditions = []metav1.Condition{{Type: schedulingv1beta1.QueueValid, Status: metav1.ConditionFalse, Message: `parent queue "nowhere" does not exist`}}
		}),
	)
}

func TestQueueTreeGolden(t *testing.T) {
	t.Parallel()
	runs := golden.RunsForCommands(golden.Command{Args: "queue tree", Wrong: "queue tree reserch", Prepare: family})
	golden.CompareRuns(t, "tree", append(runs,
		golden.Run{About: "on a terminal that can draw it, in colour", Args: "queue tree", Width: 120, Color: true, Prepare: family, Env: map[string]string{"LANG": "en_US.UTF-8"}},
		golden.Run{About: "on a narrow terminal", Args: "queue tree", Width: 40, Prepare: family},
		golden.Run{About: "below one queue", Args: "queue tree eng", Width: 120, Prepare: family},
		golden.Run{About: "all that is known", Args: "queue tree research -o wide", Prepare: family},
		golden.Run{About: "by label: what is between is left out", Args: "queue tree -l deep=yes", Prepare: func(s *clitest.Server) {
			family(s)
			for _, name := range []string{"root", "infra"} {
				s.SetObjects(golden.NewQueue(name, 1, schedulingv1beta1.QueueStateOpen, func(q *schedulingv1beta1.Queue) {
					q.Labels = map[string]string{"deep": "yes"}
					if q.Spec.Parent = "eng"; name == "root" {
						q.Spec.Parent = ""
					}
				}))
			}
		}},
		golden.Run{About: "in another order", Args: "queue tree --sort-by running --no-headers", Prepare: family},
		golden.Run{About: "sorted, names say where a queue stands: there are no branches", Args: "queue tree --sort-by wait", Prepare: family},
		golden.Run{About: "columns chosen for the list of queues are not those of the tree", Args: "queue tree", Prepare: family, Env: map[string]string{"VCCTL_CONFIG": "testdata/columns.yaml"}},
		golden.Run{About: "the same settings for the list", Args: "queue list", Prepare: family, Env: map[string]string{"VCCTL_CONFIG": "testdata/columns.yaml"}},
		golden.Run{About: "no queues at all", Args: "queue tree", Prepare: func(s *clitest.Server) {
			for _, name := range []string{"default", "research", "archive"} {
				s.RemoveObject(golden.NewQueue(name, 1, "", nil))
			}
		}},
		golden.Run{About: "queues in a circle", Args: "queue tree", Prepare: func(s *clitest.Server) {
			for name, parent := range map[string]string{"default": "archive", "archive": "default"} {
				s.SetObjects(golden.NewQueue(name, 1, schedulingv1beta1.QueueStateOpen, func(q *schedulingv1beta1.Queue) { q.Spec.Parent = parent }))
			}
		}},
		golden.Run{About: "names to complete", Args: "__complete queue tree re"},
	))
}

// squeezed is a scheduler's answer to smaller limits for research: one of its jobs and one elsewhere are evicted, and
// one job starts.
func squeezed() insightv1alpha1.PlanStatus {
	return insightv1alpha1.PlanStatus{
		Verdict: insightv1alpha1.VerdictStarts,
		Answers: []insightv1alpha1.Answer{{Kind: "Queue", Name: "research", Verdict: insightv1alpha1.VerdictStarts, Changes: []string{"capability cpu 16 -> 4"}}},
		Starts:  []insightv1alpha1.StartingGang{{Namespace: "cv", Name: "detect", Queue: "default", Pods: 2}},
		Victims: []insightv1alpha1.Victim{
			{Namespace: "nlp", Pod: "train-worker-1", Job: "train", Queue: "research", Reason: "reclaim"},
			{Namespace: "nlp", Pod: "train-worker-2", Job: "train", Queue: "research", Reason: "reclaim"},
			{Namespace: "cv", Pod: "segment-main-0", Job: "segment", Queue: "default", Reason: "preempt"},
		},
		VictimCount: 3,
	}
}

// calm is a scheduler's answer to a change without evictions.
func calm() insightv1alpha1.PlanStatus {
	return insightv1alpha1.PlanStatus{Verdict: insightv1alpha1.VerdictStarts}
}

func TestQueueChangesAreDescribedBeforeTheyAreMade(t *testing.T) {
	t.Parallel()
	less := "queue update research --capability cpu=4"
	golden.CompareRuns(t, "effects", []golden.Run{
		{About: "less for a queue in use, and nobody to ask", Args: less, Prepare: golden.AnswerPlans(squeezed()), Check: unchanged},
		{About: "on a terminal it is asked: no", Args: less, Width: 120, Input: "n\n", Prepare: golden.AnswerPlans(squeezed()), Check: unchanged},
		{About: "on a terminal it is asked: yes", Args: less, Width: 120, Input: "y\n", Prepare: golden.AnswerPlans(squeezed())},
		{About: "agreed before", Args: less + " --yes", Prepare: golden.AnswerPlans(squeezed())},
		{About: "only thought of", Args: less + " --dry-run=server", Prepare: golden.AnswerPlans(squeezed())},
		{About: "only thought of, with nothing sent", Args: less + " --dry-run=client", Check: noPlan},
		{About: "less, and nobody has to go", Args: less, Width: 80, Input: "y\n", Prepare: golden.AnswerPlans(calm())},
		{About: "less, and nobody has to go: a script is told, and not asked", Args: less, Prepare: golden.AnswerPlans(calm())},
		{About: "less for a queue above one in use", Args: "queue update eng --deserved nvidia.com/gpu=7", Prepare: func(s *clitest.Server) {
			family(s)
			golden.AnswerPlans(calm())(s)
		}},
		{About: "less, and nobody answers", Args: less},
		{About: "more is not asked about", Args: "queue update research --weight 9", Check: noPlan},
		{About: "less for a queue that nothing runs in", Args: "queue update default --capability cpu=1", Check: noPlan},
		{About: "less, Volcano's way", Args: "queue operate -n research -a update -w 1", Check: noPlan},
		{About: "close", Args: "queue close research", Width: 120, Input: "y\n", Prepare: golden.AnswerPlans(squeezed())},
		{About: "close, and those below", Args: "queue close eng", Width: 120, Input: "y\n", Prepare: func(s *clitest.Server) {
			family(s)
			golden.AnswerPlans(calm())(s)
		}},
		{About: "close, on a cluster that knows no plans", Args: "queue close research", Width: 120, Input: "y\n", Prepare: noPlans},
		{About: "delete", Args: "queue delete research", Width: 120, Input: "y\n", Check: golden.CheckStored(queuePath, 2)},
		{About: "open below a closed parent", Args: "queue open lower", Prepare: func(s *clitest.Server) {
			s.SetObjects(golden.NewQueue("lower", 1, schedulingv1beta1.QueueStateClosed, func(q *schedulingv1beta1.Queue) { q.Spec.Parent = "archive" }))
		}},
	})
}

func unchanged(t *testing.T, s *clitest.Server) {
	t.Helper()
	for _, request := range s.Requests() {
		if len(request) > 5 && request[:5] == "PATCH" {
			t.Errorf("it was changed all the same: %s", request)
		}
	}
}

func noPlan(t *testing.T, s *clitest.Server) {
	t.Helper()
	if asked := s.CreatedObjects("Plan"); len(asked) > 0 {
		t.Errorf("the scheduler was asked: %v", asked)
	}
}

func noPlans(s *clitest.Server) {
	s.RejectRequests("POST", "/apis/insight.vc-batch.dev", 404, metav1.StatusReasonNotFound, "the server could not find the requested resource")
}

func TestTreeWatchNamesTheQueuesAboveAChangedOne(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	family(server)
	out, stop, _ := golden.Start(t, server, "queue", "tree", "eng", "-w")
	out.WaitFor(t, "`- research   Open    2     0      #|#.....  31% 5/16 gpu   borrows 2 gpu from infra")
	server.SetObjects(golden.NewQueue("research", 1, schedulingv1beta1.QueueStateOpen, func(q *schedulingv1beta1.Queue) {
		q.Spec.Parent = "eng"
		q.Spec.Capability = golden.NewResources("nvidia.com/gpu", "16")
		q.Status.Deserved = golden.NewResources("nvidia.com/gpu", "2")
		q.Status.Allocated = golden.NewResources("nvidia.com/gpu", "1")
		q.Status.Running = 1
	}))
	out.WaitFor(t, "eng/research   Open    1     0      #|......   6% 1/16 gpu\n")
	server.SetObjects(golden.NewQueue("fresh", 1, schedulingv1beta1.QueueStateOpen, func(q *schedulingv1beta1.Queue) { q.Spec.Parent = "eng" }))
	out.WaitFor(t, "eng/fresh      Open")
	server.SetObjects(golden.NewQueue("other", 1, schedulingv1beta1.QueueStateOpen, nil)) // not below eng
	server.SetObjects(golden.NewQueue("later", 1, schedulingv1beta1.QueueStateOpen, func(q *schedulingv1beta1.Queue) { q.Spec.Parent = "fresh" }))
	out.WaitFor(t, "eng/fresh/later")
	research := "\neng/research"
	if strings.Count(out.String(), research) != 1 {
		t.Errorf("rows of queues that did not change are printed:\n%s", out)
	}
	stop()
	if strings.Contains(out.String(), "other") {
		t.Errorf("a queue of another tree is shown:\n%s", out)
	}
}

func TestCloseWaitsUntilTheQueueIsEmpty(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	asked := make(chan struct{})
	server.OnCreate("Command", func(map[string]any) { close(asked) })
	out, _, done := golden.Start(t, server, "queue", "close", "research", "--yes", "--wait", "--timeout", "10s")
	select {
	case <-asked:
	case <-done:
		t.Fatalf("no Command was made: %s", out)
	}
	server.SetObjects(golden.NewQueue("research", 3, schedulingv1beta1.QueueStateClosing, nil))
	if code := golden.WaitForEnd(t, server, out, done, golden.NewQueue("research", 3, schedulingv1beta1.QueueStateClosed, nil)); code != 0 {
		t.Errorf("exit %d: %s", code, out)
	}
	out.WaitFor(t, "queue.scheduling.volcano.sh/research closed")
}

func TestWaitsThatEndTooEarly(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "wait", []golden.Run{
		{About: "it stays Closing", Args: "queue close research --yes --wait --timeout 100ms", Prepare: func(s *clitest.Server) {
			s.SetObjects(golden.NewQueue("research", 3, schedulingv1beta1.QueueStateClosing, func(q *schedulingv1beta1.Queue) { q.Status.Running = 2 }))
		}},
		{About: "nobody opens a new queue", Args: "queue create fresh --wait --timeout 100ms"},
		{About: "it is open at once", Args: "queue open archive default --wait --timeout 100ms", Prepare: func(s *clitest.Server) {
			s.SetObjects(golden.NewQueue("archive", 1, schedulingv1beta1.QueueStateOpen, nil))
		}},
		{About: "it holds more than it may", Args: "queue update research --capability nvidia.com/gpu=4 --yes --wait --timeout 100ms"},
	})
}
