package demo

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"

	schedulingv1 "k8s.io/api/scheduling/v1"
)

// WithQueueLimits returns a change for NewQueue that sets a queue's guarantee, deserved share and capability in GPUs; 0 omits a value.
func WithQueueLimits(guarantee, deserved, capability int, priority int32) func(*schedulingv1beta1.Queue) {
	return func(q *schedulingv1beta1.Queue) {
		q.Spec.Priority = priority
		gpus := func(n int) corev1.ResourceList { return ResourceList(GPU, fmt.Sprint(n)) }
		if guarantee > 0 {
			q.Spec.Guarantee.Resource = gpus(guarantee)
		}
		if deserved > 0 {
			q.Spec.Deserved = gpus(deserved)
		}
		if capability > 0 {
			q.Spec.Capability = gpus(capability)
		}
	}
}

func normalQueues() []runtime.Object {
	closing := WithQueueLimits(0, 56, 128, 0)
	return []runtime.Object{
		NewQueue("root", "", 1, WithQueueLimits(0, 0, 0, 0)),
		NewQueue("prod", "root", 4, WithQueueLimits(256, 256, 400, 0)),
		NewQueue("research", "root", 4, WithQueueLimits(64, 256, 320, 100)),
		NewQueue("nlp", "research", 2, WithQueueLimits(64, 160, 256, 0)),
		NewQueue("vision", "research", 1, WithQueueLimits(0, 80, 160, 0)),
		NewQueue("bio", "research", 1, WithQueueLimits(0, 16, 64, 0)),
		NewQueue("infer", "root", 2, WithQueueLimits(32, 128, 160, 0)),
		NewQueue("students", "root", 1, WithQueueLimits(0, 64, 64, 0)),
		NewQueue("default", "root", 1, func(q *schedulingv1beta1.Queue) {
			closing(q)
			q.Status.State = schedulingv1beta1.QueueStateClosing
		}),
	}
}

func formatNames(format string, from, to int) []string {
	var all []string
	for i := from; i <= to; i++ {
		all = append(all, fmt.Sprintf(format, i))
	}
	return all
}

// NewCluster returns the objects of a cluster with 96 nodes in 12 racks, queues in two levels, and jobs in every state.
func NewCluster() []runtime.Object {
	var objects []runtime.Object
	for rack := 1; rack <= 12; rack++ {
		for i := 1; i <= 8; i++ {
			name := fmt.Sprintf("r%02dn%02d", rack, i)
			node := NewNode(name, fmt.Sprintf("r%02d", rack), "128", "1024Gi", 8)
			switch name {
			case "r10n05":
				node = WithNodeDown(node, 41*time.Second)
			case "r11n05", "r11n06":
				node.Spec.Unschedulable = true
			}
			objects = append(objects, node)
		}
	}
	objects = append(objects, normalQueues()...)
	for class, value := range map[string]int32{"batch-high": 50, "batch-normal": 10} {
		objects = append(objects, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: class, UID: types.UID("class-" + class)}, Value: value})
	}
	for _, plan := range normalJobs() {
		objects = append(objects, plan.NewObjects()...)
	}
	return FillInStatus(append(objects, normalEvents()...))
}

const hour, minute = time.Hour, time.Minute

func normalJobs() []JobPlan {
	running, pending := batchv1alpha1.Running, batchv1alpha1.Pending
	plans := []JobPlan{
		{ID: 918, Namespace: "nlp", Name: "llama-sft-70b", Queue: "nlp", User: "mei", Phase: running, Class: "batch-high", Tasks: 16, GPUs: 8, CPU: "64", Memory: "512Gi",
			Age: 30 * hour, Ran: 28*hour + 12*minute, Limit: 48 * hour, Nodes: append(formatNames("r01n%02d", 1, 8), formatNames("r02n%02d", 1, 8)...)},
		{ID: 907, Namespace: "vision", Name: "vit-g-pretrain", Queue: "vision", User: "omar", Phase: running, Class: "batch-high", Tasks: 6, GPUs: 8, CPU: "64", Memory: "512Gi",
			Age: 10 * hour, Ran: 9*hour + 40*minute, Limit: 24 * hour, Nodes: formatNames("r05n%02d", 1, 6)},
		{ID: 911, Namespace: "vision", Name: "det-finetune", Queue: "vision", User: "omar", Phase: running, Class: "batch-normal", Tasks: 2, GPUs: 8, CPU: "64", Memory: "512Gi",
			Age: 4 * hour, Ran: 3*hour + 35*minute, Limit: 4 * hour, Nodes: formatNames("r05n%02d", 7, 8)},
		{ID: 913, Namespace: "nlp", Name: "rm-train", Queue: "nlp", User: "mei", Phase: running, Class: "batch-normal", Tasks: 1, GPUs: 8, CPU: "32", Memory: "256Gi",
			Age: 2 * hour, Ran: 115 * minute, Nodes: []string{"r08n03"}},
		{ID: 914, Namespace: "nlp", Name: "rm-train-b", Queue: "nlp", User: "mei", Phase: running, Class: "batch-normal", Tasks: 1, GPUs: 8, CPU: "32", Memory: "256Gi",
			Age: 2 * hour, Ran: 115 * minute, Nodes: []string{"r08n04"}},
		{ID: 921, Namespace: "nlp", Name: "llama-eval", Queue: "nlp", User: "mei", Phase: pending, Class: "batch-high", Tasks: 2, GPUs: 8, CPU: "64", Memory: "512Gi",
			Age: 18 * minute, Limit: 2 * hour, Explanation: waitingExplanation()},
		{ID: 930, Namespace: "students", Name: "bert-distill", Queue: "students", User: "ana", Phase: pending, Class: "batch-normal", Tasks: 7, GPUs: 8, CPU: "16", Memory: "128Gi",
			Age: 6*hour + 2*minute, Explanation: aboveCapability()},
		{ID: 931, Namespace: "bio", Name: "mpi-cfd", Queue: "bio", User: "li", Phase: pending, Class: "batch-normal", Tasks: 16, CPU: "32", Memory: "64Gi",
			Age: 46 * time.Second, Ran: 21 * time.Second, Limit: 2 * hour, Nodes: append(formatNames("r07n%02d", 1, 8), formatNames("r08n%02d", 1, 8)...), Creating: 8},
		{ID: 887, Namespace: "infer", Name: "rank-serve", Queue: "infer", User: "svc-ml", Phase: batchv1alpha1.Restarting, Class: "batch-high", Tasks: 1, GPUs: 8, CPU: "16", Memory: "64Gi",
			Age: 20 * hour, Change: func(job *batchv1alpha1.Job) { job.Status.RetryCount = 1 }},
		{ID: 890, Namespace: "vision", Name: "nightly-etl", Queue: "prod", User: "svc-etl", Phase: batchv1alpha1.Completed, Class: "batch-normal", Tasks: 3, CPU: "8", Memory: "32Gi",
			Age: 3 * hour, Ran: 131 * minute},
		{ID: 891, Namespace: "nlp", Name: "tok-bench", Queue: "nlp", User: "kim", Phase: batchv1alpha1.Failed, Class: "batch-normal", Tasks: 1, GPUs: 1, CPU: "8", Memory: "32Gi",
			Age: 5 * hour, Ran: 4 * hour, Change: func(job *batchv1alpha1.Job) {
				job.Status.State.Reason, job.Status.State.Message = "PodFailed", "task worker failed: exit code 3"
			}},
		{ID: 892, Namespace: "nlp", Name: "paused", Queue: "nlp", User: "kim", Phase: batchv1alpha1.Aborted, Class: "batch-normal", Tasks: 1, GPUs: 1, CPU: "8", Memory: "32Gi", Age: 7 * hour},
	}
	for i, node := range append(append(formatNames("r03n%02d", 1, 8), formatNames("r04n%02d", 1, 8)...), "r10n01", "r10n02", "r10n03") {
		plans = append(plans, JobPlan{ID: 940 + i, Namespace: "prod", Name: fmt.Sprintf("llm-serve-%d", 30+i), Queue: "prod", User: "svc-ml", Phase: running, Class: "batch-high",
			Tasks: 1, GPUs: 8, CPU: "48", Memory: "384Gi", Age: 60 * hour, Ran: 60 * hour, Nodes: []string{node}})
	}
	for i := range 9 {
		plans = append(plans, JobPlan{ID: 960 + i, Namespace: "nlp", Name: fmt.Sprintf("hp-sweep-%d", i+1), Queue: "students", User: "omar", Phase: running, Class: "batch-normal",
			Tasks: 1, GPUs: 1 + i%3, CPU: "16", Memory: "96Gi", Age: 30 * minute, Ran: time.Duration(12+i) * minute, Limit: hour, Nodes: []string{fmt.Sprintf("r%02dn%02d", 6+i%4, 6+i%3)}})
	}
	return plans
}

// waitingExplanation returns the explanation of a gang of two pods, one of which fits.
func waitingExplanation() *schedulingv1beta1.Explanation {
	start := TimeBeforeNow(-24 * minute)
	return &schedulingv1beta1.Explanation{ // Settled fills in the queue's amounts
		Reason: "GangDoesNotFit", Message: "1 of 2 pods fits now; all 2 must start together", Hint: "lower minAvailable to 1, or free 8 nvidia.com/gpu",
		Members:        &schedulingv1beta1.ExplainedMembers{Min: 2, Exist: 2, Fit: 1},
		Queue:          &schedulingv1beta1.ExplainedQueue{Name: "nlp", Position: 1},
		EstimatedStart: &start,
		NodeCount:      96,
		Nodes: []schedulingv1beta1.ExplainedNodes{
			{Reason: "NodeAffinityMismatch", Detail: "wants gpu=a100, net=ib", Count: 64},
			{Reason: "InsufficientResource", Detail: GPU, Count: 21, ShortBy: "4"},
			{Reason: "UntoleratedTaint", Detail: "team=prod:NoSchedule", Count: 7},
			{Reason: "NodeUnschedulable", Count: 2},
			{Reason: "NodeNotReady", Count: 1},
		},
	}
}

// aboveCapability returns the explanation of a gang that requests more than its queue's capability. Settled fills in by
// how much.
func aboveCapability() *schedulingv1beta1.Explanation {
	return &schedulingv1beta1.Explanation{
		Reason: string(reason.OverCapability), Hint: reason.Get(reason.OverCapability).Hint,
		Members: &schedulingv1beta1.ExplainedMembers{Min: 7, Exist: 7},
		Queue:   &schedulingv1beta1.ExplainedQueue{Name: "students", Position: 1},
	}
}

func normalEvents() []runtime.Object {
	var all []runtime.Object
	for i, e := range []struct {
		ago                   time.Duration
		kind, reason, message string
		namespace, name, of   string
		warning               bool
	}{
		{41 * time.Second, "Node", "NodeNotReady", "Kubelet stopped posting node status", "", "r10n05", "node-r10n05", true},
		{52 * time.Second, "Pod", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503", "prod", "llm-serve-30-worker-0", "pod-940-0", true},
		{27 * time.Second, "Job", "ExecuteAction", "Start to execute action RestartJob: pod rank-serve-worker-0 was lost with its node", "infer", "rank-serve", "job-887", false},
		{8 * time.Second, "PodGroup", "Unschedulable", "1 of 2 pods fits now; all 2 must start together", "nlp", "llama-eval", "group-job-921", true},
	} {
		event := &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("event-%d", i), Namespace: e.namespace, UID: types.UID(fmt.Sprintf("event-%d", i))},
			Type:       corev1.EventTypeNormal, Reason: e.reason, Message: e.message, Count: 1, LastTimestamp: TimeBeforeNow(e.ago), FirstTimestamp: TimeBeforeNow(e.ago),
			InvolvedObject: corev1.ObjectReference{Kind: e.kind, Namespace: e.namespace, Name: e.name, UID: types.UID(e.of)},
		}
		if e.warning {
			event.Type = corev1.EventTypeWarning
		}
		all = append(all, event)
	}
	return all
}
