package node_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

func forbidden(s *clitest.Server, what string) {
	s.RejectRequests("GET", "/api/v1/"+what, 403, metav1.StatusReasonForbidden,
		fmt.Sprintf(`%s is forbidden: User "mei" cannot list resource "%s" in API group "" at the cluster scope`, what, what))
}

// devices adds GPUs and network cards to nodes, and pods that use some of them.
func devices(s *clitest.Server) {
	gpus := golden.NewNode("192.168.23.24")
	gpus.Labels = map[string]string{"gpu": "a100"}
	gpus.Status.Allocatable["nvidia.com/gpu"] = golden.NewResources("n", "8")["n"]
	gpus.Status.Allocatable["rdma/hca"] = golden.NewResources("n", "2")["n"]
	gpus.Status.Allocatable["hugepages-1Gi"] = golden.NewResources("n", "4Gi")["n"]
	gpus.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: "a"}, {Type: corev1.NodeInternalIP, Address: "10.0.0.4"}}
	gpus.Spec.Taints = []corev1.Taint{{Key: "team", Value: "prod", Effect: corev1.TaintEffectNoSchedule}}
	down := golden.NewNode("192.168.63.50")
	down.Spec.Unschedulable = true
	down.Status.Conditions[0].Status = corev1.ConditionUnknown
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "trainer", Namespace: "nlp", UID: "uid-trainer"},
		Spec: corev1.PodSpec{NodeName: "192.168.23.24", Containers: []corev1.Container{{Name: "main",
			Resources: corev1.ResourceRequirements{Requests: golden.NewResources("nvidia.com/gpu", "5", "cpu", "250m")}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	s.SetObjects(gpus, down, pod)
}

func many(s *clitest.Server) {
	for _, name := range []string{"n5", "n6", "n7", "n8", "n9"} {
		s.SetObjects(golden.NewNode(name))
	}
}

func TestNodeListGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "list", append(golden.RunsForCommands(golden.Command{Args: "node list", Wrong: "node list --sort-by nmae"}),
		golden.Run{About: "devices", Args: "node list", Prepare: devices},
		golden.Run{About: "all columns", Args: "node list -o wide", Prepare: devices},
		golden.Run{About: "nine nodes have the columns of four", Args: "node list", Prepare: many},
		golden.Run{About: "a narrow terminal", Args: "node list", Width: 40},
		golden.Run{About: "by name", Args: "node list 192.168.51.67 192.168.57.163"},
		golden.Run{About: "by label", Args: "node list -l gpu=a100", Prepare: devices},
		golden.Run{About: "one that is not there", Args: "node list 192.168.23.42"},
		golden.Run{About: "the fullest first", Args: "node list --sort-by cpu --no-headers", Prepare: devices},
		golden.Run{About: "by what is idle", Argv: []string{"node", "list", "--sort-by", "idle cpu"}},
		golden.Run{About: "names", Args: "node list -o name"},
		golden.Run{About: "pods may not be read", Args: "node list", Prepare: func(s *clitest.Server) { forbidden(s, "pods") }},
		golden.Run{About: "nor nodes", Args: "node list", Prepare: func(s *clitest.Server) { forbidden(s, "nodes") }},
		golden.Run{About: "no nodes", Args: "node list -l gpu=none"},
		golden.Run{About: "names to complete", Args: "__complete node list 192.168.5"},
	))
}

// hyper returns a hypernode. Members that start with a letter are hypernodes, all others are nodes.
func hyper(name string, tier int, members ...string) *topologyv1alpha1.HyperNode {
	h := &topologyv1alpha1.HyperNode{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: golden.TimeAgo(time.Hour)}}
	h.Spec.Tier = tier
	for _, member := range members {
		m := topologyv1alpha1.MemberSpec{Type: topologyv1alpha1.MemberTypeNode}
		if member[0] >= 'a' {
			m.Type = topologyv1alpha1.MemberTypeHyperNode
		}
		m.Selector.ExactMatch = &topologyv1alpha1.ExactMatch{Name: member}
		h.Spec.Members = append(h.Spec.Members, m)
	}
	return h
}

// network adds two leaves below a spine, a node outside of them, a missing leaf and a leaf with two parents.
func network(s *clitest.Server) {
	devices(s)
	spine := hyper("spine", 2, "leaf-a", "leaf-b", "leaf-c")
	spine.Spec.TierName = "spines"
	s.SetObjects(spine, hyper("leaf-a", 1, "192.168.23.24", "192.168.51.67"), hyper("leaf-b", 1, "192.168.57.163", "192.168.57.164"),
		hyper("left", 3, "shared"), hyper("right", 3, "shared"), hyper("shared", 1, "192.168.63.50"))
	s.SetObjects(golden.NewNode("n5"))
}

func TestHyperNodesGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "hypernodes", append(golden.RunsForCommands(golden.Command{Args: "node hypernodes", Wrong: "node hypernodes leaf-x", Prepare: network}),
		golden.Run{About: "on a terminal that can draw it", Args: "node hypernodes", Width: 120, Prepare: network, Env: map[string]string{"LANG": "en_US.UTF-8"}},
		golden.Run{About: "with the names of nodes", Args: "node hypernodes -o wide", Prepare: network},
		golden.Run{About: "one branch", Args: "node hypernodes leaf-b --no-headers", Prepare: network},
		golden.Run{About: "one object", Args: "node hypernodes leaf-b -o jsonpath={.spec.tier}", Prepare: network},
		golden.Run{About: "none", Args: "node hypernodes"},
		golden.Run{About: "pods may not be read", Args: "node hypernodes", Prepare: func(s *clitest.Server) {
			network(s)
			forbidden(s, "pods")
		}},
		golden.Run{About: "names to complete", Args: "__complete node hypernodes leaf", Prepare: network},
	))
}

func TestNodeListWatchFollowsNodesAndPods(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	out, stop, _ := golden.Start(t, server, "node", "list", "-w")
	out.WaitFor(t, "192.168.63.50    Ready    3.92   2.92       ")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "late", Namespace: "nlp", UID: "uid-late"},
		Spec: corev1.PodSpec{NodeName: "192.168.63.50", Containers: []corev1.Container{{Name: "main",
			Resources: corev1.ResourceRequirements{Requests: golden.NewResources("cpu", "2")}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	server.SetObjects(pod)
	out.WaitFor(t, "192.168.63.50    Ready    3.92   0.92       ")
	server.RemoveObject(pod)
	cordoned := golden.NewNode("192.168.63.50")
	cordoned.Spec.Unschedulable = true
	server.SetObjects(cordoned)
	out.WaitFor(t, "192.168.63.50    Ready,SchedulingDisabled")
	out.WaitFor(t, "3.92   2.92       6118Mi   4070Mi")
	stop()
}

func TestNodeListHasTheSameColumnsForAnyNumberOfNodes(t *testing.T) {
	t.Parallel()
	header := func(nodes int, width int) string {
		var objects []client.Object
		for i := range nodes {
			objects = append(objects, golden.NewNode(fmt.Sprintf("n%d", i)))
		}
		out := golden.Run{Args: "node list", Width: width}.RunAgainst(t, clitest.Start(t, objects...)).Out
		first, _, _ := strings.Cut(out, "\n")
		return first
	}
	for _, width := range []int{0, 80, 200} {
		want := header(9, width)
		for _, nodes := range []int{1, 4, 8} {
			if diff := cmp.Diff(want, header(nodes, width)); diff != "" {
				t.Errorf("%d nodes, %d columns (-nine nodes +these):\n%s", nodes, width, diff)
			}
		}
	}
}
