package snapshot

import (
	"cmp"
	"iter"
	"maps"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/nodecapacity"
)

// The labels that name a node's rack and pool. The first one that the node has is used.
var (
	rackLabels = []string{"topology.kubernetes.io/rack", "rack", "topology.kubernetes.io/zone"}
	poolLabels = []string{
		"volcano.sh/nodegroup-name", "cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "kubernetes.azure.com/agentpool", "karpenter.sh/nodepool", "node-pool", "pool",
	}
)

func firstLabel(node *corev1.Node, names []string) string {
	for _, name := range names {
		if value := node.Labels[name]; value != "" {
			return value
		}
	}
	return ""
}

// FromNode reduces a node to the fields that are shown.
func FromNode(node *corev1.Node) *Node {
	n := &Node{
		UID: node.UID, Name: node.Name, Cordoned: node.Spec.Unschedulable, Created: node.CreationTimestamp.Time, Has: nodecapacity.AmountsFromList(node.Status.Allocatable),
		PodLimit: node.Status.Allocatable.Pods().Value(), Rack: firstLabel(node, rackLabels), Pool: firstLabel(node, poolLabels), Labels: node.Labels, Status: nodecapacity.StatusText(node), Address: nodecapacity.InternalAddress(node),
	}
	for i := range node.Spec.Taints {
		n.Taints = append(n.Taints, node.Spec.Taints[i].ToString())
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			n.Ready, n.Since = condition.Status == corev1.ConditionTrue, condition.LastTransitionTime.Time
			if !n.Ready {
				n.Problem = cmp.Or(condition.Message, condition.Reason)
			}
		}
	}
	return n
}

// newNodeRow returns the row of a node with the pods that use its resources. Pods that have ended use none.
func newNodeRow(facts *Node, pods []*Pod, unknown bool) *Node {
	n := *facts
	n.Unknown = unknown
	n.Pods = slices.DeleteFunc(pods, func(pod *Pod) bool { return pod.Exited })
	slices.SortFunc(n.Pods, func(a, b *Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	n.Used = Amounts{}
	busy := false
	for _, pod := range n.Pods {
		busy = busy || pod.Job != ""
		if pod.Asks != nil {
			n.Used.Add(*pod.Asks, 1)
		}
	}
	n.Idle = nodecapacity.RemainingAmounts(n.Has, &n.Used)
	n.State = nodecapacity.StateOfNode(n.Ready, n.Cordoned, busy, n.Has, n.Idle)
	return &n
}

// resourcesOfNodes returns the resources that any node has: cpu, memory, then devices by name.
func resourcesOfNodes(nodes []*Node) []corev1.ResourceName {
	devices := map[corev1.ResourceName]bool{}
	for _, n := range nodes {
		for name := range n.Has.Devices {
			devices[name] = true
		}
	}
	return append([]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}, slices.Sorted(maps.Keys(devices))...)
}

// hyperNodePaths returns the hypernodes that contain each node, the nearest first.
func (b *Board) hyperNodePaths() map[string][]string {
	if len(b.hyper) == 0 {
		return nil
	}
	parents, direct := b.hyperNodeParents(), b.lowestHyperNodes()
	paths := make(map[string][]string, len(direct))
	for node, name := range direct {
		for at := name; at != "" && !slices.Contains(paths[node], at); at = parents[at] {
			paths[node] = append(paths[node], at)
		}
	}
	return paths
}

// hyperNodeParents returns the hypernode that contains each hypernode.
func (b *Board) hyperNodeParents() map[string]string {
	parents := map[string]string{}
	for name, member := range b.hyperNodeMembers() {
		if member.Type == topologyv1alpha1.MemberTypeHyperNode && member.Selector.ExactMatch != nil {
			parents[member.Selector.ExactMatch.Name] = name
		}
	}
	return parents
}

// lowestHyperNodes returns for each node the hypernode of the lowest tier that selects the node directly.
func (b *Board) lowestHyperNodes() map[string]string {
	lowest := map[string]string{}
	for name, member := range b.hyperNodeMembers() {
		if member.Type == topologyv1alpha1.MemberTypeHyperNode {
			continue
		}
		tier := b.hyper[name].Spec.Tier
		for node, e := range b.nodes {
			if e.facts == nil || !selectsNode(&member.Selector, e.facts) {
				continue
			}
			if known, ok := lowest[node]; !ok || b.hyper[known].Spec.Tier > tier {
				lowest[node] = name
			}
		}
	}
	return lowest
}

// hyperNodeMembers returns an iterator over the members of all hypernodes, in the order of the hypernodes' names.
func (b *Board) hyperNodeMembers() iter.Seq2[string, *topologyv1alpha1.MemberSpec] {
	return func(yield func(string, *topologyv1alpha1.MemberSpec) bool) {
		for _, name := range slices.Sorted(maps.Keys(b.hyper)) {
			members := b.hyper[name].Spec.Members
			for i := range members {
				if !yield(name, &members[i]) {
					return
				}
			}
		}
	}
}

func selectsNode(s *topologyv1alpha1.MemberSelector, n *Node) bool {
	switch {
	case s.ExactMatch != nil:
		return s.ExactMatch.Name == n.Name
	case s.RegexMatch != nil:
		matched, err := regexp.MatchString(s.RegexMatch.Pattern, n.Name)
		return err == nil && matched
	case s.LabelMatch != nil:
		selector, err := metav1.LabelSelectorAsSelector(s.LabelMatch)
		return err == nil && selector.Matches(labels.Set(n.Labels))
	}
	return false
}
