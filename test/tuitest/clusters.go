package tuitest

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/dashboard/demo"
)

const hour, minute = time.Hour, time.Minute

// FewNodesWorld returns a cluster with four nodes, a running job and a pending one.
func FewNodesWorld() []runtime.Object {
	var objects []runtime.Object
	nodes := []string{"192.168.23.24", "192.168.51.67", "192.168.57.163", "192.168.63.50"}
	for _, name := range nodes {
		node := demo.NewNode(name, "", "8", "16Gi", 0)
		node.Labels[keys.NodeKind] = "process"
		objects = append(objects, node)
	}
	objects = append(objects, demo.NewQueue("root", "", 1, nil), demo.NewQueue("default", "root", 1, nil))
	for _, plan := range fewJobs() {
		objects = append(objects, plan.NewObjects()...)
	}
	return demo.FillInStatus(objects)
}

func fewJobs() []demo.JobPlan {
	nodes := []string{"192.168.23.24", "192.168.51.67", "192.168.57.163"}
	return []demo.JobPlan{
		{ID: 1, Namespace: "default", Name: "train", Queue: "default", User: "mei", Phase: batchv1alpha1.Running, Tasks: 3, CPU: "4", Memory: "8Gi", Age: 12 * minute, Ran: 11 * minute, Nodes: nodes},
		{ID: 2, Namespace: "default", Name: "eval", Queue: "default", User: "kim", Phase: batchv1alpha1.Pending, Tasks: 6, CPU: "4", Memory: "8Gi", Age: 3 * minute, Explanation: fewExplanation()},
	}
}

// FewNodesLater returns FewNodesWorld at a later time: eval is deleted, and train has two pods.
func FewNodesLater() []runtime.Object {
	var objects []runtime.Object
	for _, object := range FewNodesWorld() {
		switch object.(type) {
		case *corev1.Node, *schedulingv1beta1.Queue:
			objects = append(objects, object)
		}
	}
	train := fewJobs()[0]
	train.Nodes = train.Nodes[:2]
	return demo.FillInStatus(append(objects, train.NewObjects()...))
}

func fewExplanation() *schedulingv1beta1.Explanation {
	return &schedulingv1beta1.Explanation{
		Reason: "GangDoesNotFit", Message: "5 of 6 pods fit now; all 6 must start together", Hint: "lower minAvailable to 5, or free 4 cpu",
		Members: &schedulingv1beta1.ExplainedMembers{Min: 6, Exist: 6, Fit: 5}, Queue: &schedulingv1beta1.ExplainedQueue{Name: "default", Position: 1},
		NodeCount: 4, Nodes: []schedulingv1beta1.ExplainedNodes{{Reason: "InsufficientResource", Detail: "cpu", Count: 4, ShortBy: "4"}},
	}
}

// ManyNodesAndJobs returns nodes with eight GPUs, and jobs of one pod, most of which are pending.
func ManyNodesAndJobs(nodes, jobs int) []runtime.Object {
	var objects []runtime.Object
	for i := range nodes {
		objects = append(objects, demo.NewNode(fmt.Sprintf("n%04d", i), fmt.Sprintf("rack-%02d", i/40), "128", "1024Gi", 8))
	}
	queues := []string{"blue", "green", "red"}
	objects = append(objects, demo.NewQueue("root", "", 1, nil))
	for i, name := range queues {
		objects = append(objects, demo.NewQueue(name, "root", int32(i+1), demo.WithQueueLimits(nodes, 2*nodes, 4*nodes, 0)))
	}
	for i := range jobs {
		plan := demo.JobPlan{
			ID: 1000 + i, Namespace: fmt.Sprintf("team-%d", i%7), Name: fmt.Sprintf("job-%05d", i), Queue: queues[i%3], User: fmt.Sprintf("user%02d", i%23),
			Tasks: 1, GPUs: 1 + i%4, CPU: "8", Memory: "64Gi", Age: time.Duration(jobs-i) * time.Second, Phase: batchv1alpha1.Pending,
		}
		if i%7 == 0 && i/7 < 2*nodes {
			plan.Phase, plan.Ran, plan.Nodes = batchv1alpha1.Running, plan.Age/2, []string{fmt.Sprintf("n%04d", i/7%nodes)}
		}
		objects = append(objects, plan.NewObjects()...)
	}
	return demo.FillInStatus(objects)
}
