package session

import (
	"math"

	"github.com/vc-batch/vc/internal/model"
)

// slots count how many tasks of a shape the nodes have room for, each by itself:
// a gang that needs more does not fit, and need not be tried.
type slots struct {
	at  []int32 // by node's rank
	sum int
}

// countSlots counts for all shapes of the gangs that wait.
func (f *forecaster) countSlots() {
	f.slots = map[*model.Shape]*slots{}
	for _, j := range f.jobs {
		for _, shape := range j.Shapes() {
			if f.slots[shape] != nil {
				continue
			}
			n := &slots{at: make([]int32, len(f.s.View.Order))}
			for rank, id := range f.s.View.Order {
				n.at[rank] = f.room(shape, id)
				n.sum += int(n.at[rank])
			}
			f.slots[shape] = n
		}
	}
}

// recount looks again at a node whose room changed.
func (f *forecaster) recount(id model.NodeID) {
	rank := f.s.View.Rank[id]
	if rank < 0 {
		return
	}
	for shape, n := range f.slots {
		now := f.room(shape, id)
		n.sum += int(now - n.at[rank])
		n.at[rank] = now
	}
}

// room is how many tasks of a shape a node has room for.
func (f *forecaster) room(shape *model.Shape, id model.NodeID) int32 {
	s := f.s
	if !s.Judge.Allowed(shape, id) {
		return 0
	}
	idle, future := s.View.Nodes.Row(s.View.Idle, id), s.View.Nodes.Row(s.View.Future, id)
	most := int64(math.MaxInt16)
	for _, t := range shape.Request {
		if t.Value > 0 {
			most = min(most, min(idle[t.Index], future[t.Index])/t.Value)
		}
	}
	return int32(max(most, 0))
}

// roomy says whether a gang may fit, as far as the nodes' room tells.
func (f *forecaster) roomy(j *Job) bool {
	sum := 0
	for _, shape := range j.Shapes() {
		if sum += f.slots[shape].sum; sum >= j.Need() {
			return true
		}
	}
	return false
}
