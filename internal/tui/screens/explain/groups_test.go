package explain

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/dashboard/demo"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/test/tuitest"
)

// nodesTold returns the nodes listed under the first reason of an explanation.
func nodesTold(t *testing.T, first schedulingv1beta1.ExplainedNodes, pod corev1.PodSpec, nodes ...*corev1.Node) []string {
	t.Helper()
	board := snapshot.NewBoard()
	for _, node := range nodes {
		board.SetNode(snapshot.FromNode(node))
	}
	job := &snapshot.Job{Object: &batchv1alpha1.Job{Spec: batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Template: corev1.PodTemplateSpec{Spec: pod}}}}}}
	told := &schedulingv1beta1.Explanation{NodeCount: int32(len(nodes)), Nodes: []schedulingv1beta1.ExplainedNodes{first}}
	return groupsFromExplanation(board.TakeSnapshot(tuitest.Now, snapshot.Facts{}), job, told)[0].nodes
}

func tainted(name string, taints ...corev1.Taint) *corev1.Node {
	node := demo.NewNode(name, "", "8", "16Gi", 0)
	node.Spec.Taints = taints
	return node
}

func TestWhichNodesAreUnderATaint(t *testing.T) {
	t.Parallel()
	prod := corev1.Taint{Key: "team", Value: "prod", Effect: corev1.TaintEffectNoSchedule}
	old := corev1.Taint{Key: "old", Effect: corev1.TaintEffectPreferNoSchedule}
	gpu := corev1.Taint{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoExecute}
	told := schedulingv1beta1.ExplainedNodes{Reason: "UntoleratedTaint", Detail: "team=prod:NoSchedule", Count: 1}
	for name, tc := range map[string]struct {
		node      *corev1.Node
		tolerates []corev1.Toleration
		under     bool
	}{
		"the taint that is told":            {node: tainted("n", prod), under: true},
		"behind one that is only preferred": {node: tainted("n", old, prod), under: true},
		"only preferred":                    {node: tainted("n", old)},
		"tolerated":                         {node: tainted("n", prod), tolerates: []corev1.Toleration{{Key: "team", Operator: corev1.TolerationOpExists}}},
		"behind one that is tolerated":      {node: tainted("n", gpu, prod), tolerates: []corev1.Toleration{{Key: "gpu", Value: "yes"}}, under: true},
		"another one is told first":         {node: tainted("n", gpu, prod)},
	} {
		if got := slices.Contains(nodesTold(t, told, corev1.PodSpec{Tolerations: tc.tolerates}, tc.node), "n"); got != tc.under {
			t.Errorf("%s: the node stands under the reason: %v", name, got)
		}
	}
}

func TestWhichNodesLackALabel(t *testing.T) {
	t.Parallel()
	node := demo.NewNode("n", "", "8", "16Gi", 0)
	node.Labels["disk"] = "hdd"
	pod := corev1.PodSpec{NodeSelector: map[string]string{"disk": "ssd", "net": "ib"}}
	if got := nodesTold(t, schedulingv1beta1.ExplainedNodes{Reason: "NodeSelectorMismatch", Detail: "disk=ssd,net=ib", Count: 1}, pod, node); len(got) != 1 {
		t.Errorf("under the labels that it lacks: %v", got)
	}
	if got := nodesTold(t, schedulingv1beta1.ExplainedNodes{Reason: "NodeSelectorMismatch", Detail: "net=ib", Count: 1}, pod, node); len(got) != 0 {
		t.Errorf("under some of the labels that it lacks: %v", got)
	}
	pod.NodeSelector = map[string]string{"net": "ib"}
	if got := nodesTold(t, schedulingv1beta1.ExplainedNodes{Reason: "NodeSelectorMismatch", Detail: "disk=ssd,net=ib", Count: 1}, pod, node); len(got) != 0 {
		t.Errorf("under more labels than it lacks: %v", got)
	}
}
