package evict

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// bound quickly detects that a gang cannot fit because even the total of the free resources on its nodes does not
// suffice. It is updated for a single node whenever a task is evicted or spared.
type bound struct {
	s      *cycle.Cycle
	asked  resource.Request // total request; the request of one task if single
	need   int64            // number of tasks, if single
	single bool
	nodes  []bool  // nodes that at least one of the shapes may use
	sums   []int64 // for each resource in asked, the free amount on those nodes; if single, [0] is the number of slots
}

// newBound computes the bound from all nodes. within limits the nodes; nil means all nodes.
func newBound(s *cycle.Cycle, tasks []*model.Task, shapes []*model.Shape, within func(model.NodeID) bool) *bound {
	b := &bound{s: s, single: len(shapes) == 1, need: int64(len(tasks)), nodes: make([]bool, s.View.Nodes.Len())}
	b.asked = framework.SumRequests(tasks)
	if b.single {
		b.asked = shapes[0].Request
	}
	b.sums = make([]int64, max(len(b.asked), 1))
	for _, id := range s.View.Order {
		if within == nil || within(id) {
			b.nodes[id] = slices.ContainsFunc(shapes, func(shape *model.Shape) bool { return s.Judge.IsAllowed(shape, id) })
		}
		b.countNode(id, 1)
	}
	return b
}

// countNode adds the free resources of a node, multiplied by sign, to the sums.
func (b *bound) countNode(id model.NodeID, sign int64) {
	if id < 0 || int(id) >= len(b.nodes) || !b.nodes[id] {
		return
	}
	room := b.s.View.Nodes.Row(b.s.View.Future, id)
	if b.single {
		b.sums[0] += sign * countSlots(b.s, room, b.asked, b.need)
		return
	}
	for i, t := range b.asked {
		if !b.s.View.IsExcluded(int(t.Index)) {
			b.sums[i] += sign * max(room[t.Index], 0)
		}
	}
}

// countSlots returns how many tasks with the given request fit into the free resources in room, but no more than
// most.
func countSlots(s *cycle.Cycle, room []int64, asked resource.Request, most int64) int64 {
	for _, t := range asked {
		if t.Value > 0 && !s.View.IsExcluded(int(t.Index)) {
			most = min(most, max(room[t.Index], 0)/t.Value)
		}
	}
	return most
}

// cannotFit reports whether the gang certainly cannot fit.
func (b *bound) cannotFit() bool {
	if b.single {
		return b.sums[0] < b.need
	}
	for i, t := range b.asked {
		if !b.s.View.IsExcluded(int(t.Index)) && b.sums[i] < t.Value {
			return true
		}
	}
	return false
}
