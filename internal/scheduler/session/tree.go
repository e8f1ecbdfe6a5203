package session

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
)

// Tree caches, between cycles, how the nodes are split among the HyperNodes.
type Tree struct {
	// Topology is nil if there are no HyperNodes.
	Topology *model.Topology
	// View groups the nodes by their lowest HyperNodes.
	View  equivalence.View
	epoch uint64
}

// Open updates the tree. Every node belongs to the group of its lowest HyperNode.
func (t *Tree) Open(c *model.Cluster, o *overlay.Overlay) {
	now := c.Topology()
	if now == nil {
		t.Topology, t.View.Groups = nil, nil
		return
	}
	if now == t.Topology && t.epoch == o.Epoch && t.View.Groups != nil {
		return
	}
	of := make([]int32, len(o.Order))
	for rank, id := range o.Order {
		of[rank] = int32(now.LowestDomain(id).Index)
	}
	t.Topology, t.epoch = now, o.Epoch
	t.View.Groups = equivalence.NewGroups(of, len(now.Domains))
	t.View.Stamp++
}
