package scheduler

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// changedHyperNode returns the HyperNode in which a gang with a network topology is placed now. It returns nil if the
// gang's annotation already names that HyperNode, if the gang has no network topology, or if nothing was placed.
func changedHyperNode(s *cycle.Cycle, j *framework.Job) *string {
	cares := j.Topology != nil || slices.ContainsFunc(j.SubGroups, func(p model.SubGroupPolicy) bool { return p.Topology != nil })
	if !cares || len(j.Placed) == 0 {
		return nil
	}
	name := s.CommonHyperNode(j)
	if name == j.Annotations[keys.AllocatedHyperNode] {
		return nil
	}
	return &name
}

// reportHyperNodes writes the HyperNode statuses that differ from the published ones.
func (e *Engine) reportHyperNodes(s *cycle.Cycle) {
	t := s.Tree.Topology
	if t == nil || (t == e.writtenTopology && !s.Cluster.HyperNodesChanged(e.writtenGen)) {
		e.writtenTopology = t
		return
	}
	e.writtenTopology, e.writtenGen = t, s.Cluster.Gen()
	for _, d := range t.Domains[:t.Root.Index] {
		h := s.Cluster.HyperNodes[d.Name]
		ready := metav1.Condition{Type: topologyv1alpha1.HyperNodeReady, Status: metav1.ConditionTrue, Reason: d.Reason, Message: d.Lacks}
		if !d.CanHoldGangs() {
			ready.Status, ready.Message = metav1.ConditionFalse, d.Problem
		}
		old := h.Published.Ready
		ready.LastTransitionTime = metav1.NewTime(s.Now)
		if old.Status == ready.Status {
			ready.LastTransitionTime = old.LastTransitionTime
		}
		isSame := old.Status == ready.Status && old.Reason == ready.Reason && old.Message == ready.Message
		if isSame && h.Published.NodeCount == len(d.All) {
			continue
		}
		s.Out.HyperNodes = append(s.Out.HyperNodes, decision.HyperNodeStatus{HyperNode: d.Name, NodeCount: len(d.All), Ready: ready})
	}
}
