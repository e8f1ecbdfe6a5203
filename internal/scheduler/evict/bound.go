package evict

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// bound is a quick no: however the gang is put, its nodes have too little room.
// It follows what is evicted and spared, node by node.
type bound struct {
	s      *session.Session
	asked  model.Request // together; of one task when single
	need   int64         // tasks, when single
	single bool
	nodes  []bool  // that any of the shapes may use
	sums   []int64 // per term of asked: room on those nodes; [0] slots when single
}

// newBound looks at all nodes once. within limits them; nil: all.
func newBound(s *session.Session, tasks []*model.Task, shapes []*model.Shape, within func(model.NodeID) bool) *bound {
	b := &bound{s: s, single: len(shapes) == 1, need: int64(len(tasks)), nodes: make([]bool, s.View.Nodes.Len())}
	b.asked = session.Sum(tasks)
	if b.single {
		b.asked = shapes[0].Request
	}
	b.sums = make([]int64, max(len(b.asked), 1))
	for _, id := range s.View.Order {
		for _, shape := range shapes {
			b.nodes[id] = b.nodes[id] || (within == nil || within(id)) && s.Judge.Allowed(shape, id)
		}
		b.count(id, 1)
	}
	return b
}

// count adds sign× the room of a node.
func (b *bound) count(id model.NodeID, sign int64) {
	if id < 0 || int(id) >= len(b.nodes) || !b.nodes[id] {
		return
	}
	room := b.s.View.Nodes.Row(b.s.View.Future, id)
	if b.single {
		b.sums[0] += sign * slots(b.s, room, b.asked, b.need)
		return
	}
	for i, t := range b.asked {
		if !b.s.View.Left(int(t.Index)) {
			b.sums[i] += sign * max(room[t.Index], 0)
		}
	}
}

// slots is how many tasks of a request room is for, at most most.
func slots(s *session.Session, room []int64, asked model.Request, most int64) int64 {
	for _, t := range asked {
		if t.Value > 0 && !s.View.Left(int(t.Index)) {
			most = min(most, max(room[t.Index], 0)/t.Value)
		}
	}
	return most
}

// no says whether the gang cannot fit.
func (b *bound) no() bool {
	if b.single {
		return b.sums[0] < b.need
	}
	for i, t := range b.asked {
		if !b.s.View.Left(int(t.Index)) && b.sums[i] < t.Value {
			return true
		}
	}
	return false
}
