package show_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// richlyExplained fills all fields of the explanation of the job eval.
func richlyExplained(s *clitest.Server) {
	eval := golden.NewJob("eval", "research", batchv1alpha1.Pending, 18*time.Minute)
	e := golden.WaitingExplanation()
	since, tried, start := golden.TimeAgo(11*time.Minute), golden.TimeAgo(time.Minute), golden.TimeAgo(-40*time.Minute)
	e.Since, e.LastAttempt, e.Attempts = &since, &tried, 12
	e.EstimatedStart, e.Estimate = &start, "when det-finetune reaches its time limit"
	e.Queue.Waiting = 7
	e.Queue.Path = []schedulingv1beta1.ExplainedLevel{{Name: "root"}, {Name: "company", Allocated: golden.NewResources("cpu", "90"), Deserved: golden.NewResources("cpu", "64")}}
	e.Spared = []schedulingv1beta1.ExplainedSpared{{Reason: "NotLower", Pods: 3}, {Reason: "BudgetExhausted", Detail: "web/front", Pods: 1}}
	e.EvictedBy = "evicted for nlp/urgent, which has a higher priority"
	e.Helps = []schedulingv1beta1.Help{
		{Kind: schedulingv1beta1.HelpFewerMembers, To: "1", Text: "minAvailable: 1 instead of 2"},
		{Kind: schedulingv1beta1.HelpSmallerPods, Text: "nvidia.com/gpu: 3 instead of 8 a pod (vcctl job run --gpus 3)"},
	}
	s.SetObjects(golden.NewGroup(eval, schedulingv1beta1.PodGroupPending, e))
}

// foreign puts the job plain under Volcano's own scheduler: conditions of the PodGroup and the pod, and events.
func foreign(s *clitest.Server) {
	plain := golden.NewJob("plain", "default", batchv1alpha1.Pending, 30*time.Second)
	one := golden.NewPod(plain, 0, "")
	one.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable",
		Message: "0/4 nodes are unavailable: 4 Insufficient cpu."}}
	s.SetObjects(one, golden.NewEvent("plain.1", golden.NewGroup(plain, schedulingv1beta1.PodGroupPending, nil), "Warning", "Unschedulable", "queue resource quota insufficient: insufficient cpu", 10*time.Second),
		golden.NewEvent("plain.2", golden.NewGroup(plain, schedulingv1beta1.PodGroupPending, nil), "Warning", "Unschedulable", "queue resource quota insufficient: insufficient cpu", 5*time.Second))
}

func TestExplainWatchSaysItAgainWhenTheAnswerChangesAndEndsWhenTheJobRuns(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	out, _, done := golden.Start(t, server, "job", "explain", "eval", "-w")
	out.WaitFor(t, "1 of 2 pods fit now")
	eval := golden.NewJob("eval", "research", batchv1alpha1.Pending, 18*time.Minute)
	server.SetObjects(golden.NewGroup(eval, schedulingv1beta1.PodGroupPending, golden.WaitingExplanation())) // unchanged
	server.SetObjects(golden.NewGroup(eval, schedulingv1beta1.PodGroupPending, &schedulingv1beta1.Explanation{Reason: "QueueClosed", Message: "queue research is closed"}))
	out.WaitFor(t, "queue research is closed")
	if code := func() int {
		eval.Status.State.Phase = batchv1alpha1.Running
		server.SetObjects(golden.NewGroup(eval, schedulingv1beta1.PodGroupRunning, nil))
		return golden.WaitForEnd(t, server, out, done, eval)
	}(); code != 0 {
		t.Errorf("exit %d", code)
	}
	out.WaitFor(t, "nlp/eval is Running")
}

// owned sets the owner of the job train to mei, in its annotation.
func owned(s *clitest.Server) {
	train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	train.Annotations = map[string]string{keys.User: "mei"}
	train.Status.Running = 1
	s.SetObjects(train)
}

// wideRunes gives the job plain a reason and a priority in Chinese.
func wideRunes(s *clitest.Server) {
	plain := golden.NewJob("plain", "default", batchv1alpha1.Pending, 30*time.Second)
	s.SetObjects(golden.NewGroup(plain, schedulingv1beta1.PodGroupPending, &schedulingv1beta1.Explanation{Reason: "QueueClosed", Message: "队列已关闭，请联系管理员打开队列后再提交作业"}))
}
