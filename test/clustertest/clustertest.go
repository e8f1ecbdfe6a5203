// Package clustertest has the configurations, HyperNodes and network topologies of the scheduler's tests, and describes
// clusters in failure messages. It does not use the engine, so that the tests of package scheduler can use it. Package
// make has the builders of all other objects.
package clustertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
)

// HyperNode returns a HyperNode of nodes or of other HyperNodes.
func HyperNode(name string, tier int, kind topologyv1alpha1.MemberType, members ...string) model.Delta {
	h := &topologyv1alpha1.HyperNode{ObjectMeta: metav1.ObjectMeta{Name: name}}
	h.Spec.Tier = tier
	for _, m := range members {
		h.Spec.Members = append(h.Spec.Members, topologyv1alpha1.MemberSpec{
			Type: kind, Selector: topologyv1alpha1.MemberSelector{ExactMatch: &topologyv1alpha1.ExactMatch{Name: m}},
		})
	}
	return model.HyperNodeFrom(h)
}

// DrawTopology draws a hard network topology of tier 1 or 2, a soft one, or nil.
func DrawTopology(t *rapid.T) *schedulingv1beta1.NetworkTopologySpec {
	tier := rapid.IntRange(1, 2).Draw(t, "tier")
	switch rapid.IntRange(0, 3).Draw(t, "topology") {
	case 0:
		return nil
	case 1:
		return &schedulingv1beta1.NetworkTopologySpec{Mode: schedulingv1beta1.SoftNetworkTopologyMode}
	}
	return &schedulingv1beta1.NetworkTopologySpec{Mode: schedulingv1beta1.HardNetworkTopologyMode, HighestTierAllowed: &tier}
}

// RunTimeSeconds returns the run time that a help advises, in the form of a pod's activeDeadlineSeconds.
func RunTimeSeconds(t *rapid.T, h schedulingv1beta1.Help) *int64 {
	length, err := time.ParseDuration(h.To)
	if h.Subject == schedulingv1beta1.RunTimeLimit {
		length, err = time.ParseDuration(h.To + "s")
	}
	if err != nil {
		t.Fatal(err)
	}
	n := int64(length / time.Second)
	return &n
}

// Describe returns the gangs with their explanations, the nodes and the queues of a cluster, for a failure message.
func Describe(m *model.Cluster) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.Gangs)) {
		g := m.Gangs[name]
		queue := "no queue" // pods may name a PodGroup that does not exist
		if g.Queue != nil {
			queue = g.Queue.Name
		}
		fmt.Fprintf(&b, "%s in %s, minimum %d: %s", name, queue, g.MinMember, g.Status.Phase)
		for _, t := range g.Tasks {
			fmt.Fprintf(&b, "; %s %s %v %v", t.Name, t.Status, t.Shape.Requests, t.Shape.NodeSelector)
		}
		if e := g.Status.Explanation; e != nil {
			b.WriteString(": " + e.Message)
		}
		b.WriteString("\n")
	}
	for id, name := range m.Nodes.Name {
		fmt.Fprintf(&b, "%s: has %v used %v\n", name, m.Nodes.Row(m.Nodes.Alloc, model.NodeID(id)), m.Nodes.Row(m.Nodes.Used, model.NodeID(id)))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Queues)) {
		q := m.Queues[name]
		fmt.Fprintf(&b, "%s: weight %d capability %v gives %v\n", name, q.Weight, q.Capability, q.Reclaimable)
	}
	return b.String()
}
