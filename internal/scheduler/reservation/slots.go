package reservation

import (
	"math"
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// slots counts how many tasks of a shape fit on the nodes, ignoring other shapes. A gang that needs more does not fit
// and is not tried.
type slots struct {
	at   []int32 // by node rank
	most []int32 // by node rank: the number that reservations leave; nil for no restriction
	sum  int
}

// slotsOf counts the slots for one shape.
func (s *Planner) slotsOf(shape *model.Shape) *slots {
	n := &slots{at: make([]int32, len(s.View.Order))}
	for rank, id := range s.View.Order {
		n.at[rank] = s.slotsOn(shape, id)
		n.sum += int(n.at[rank])
	}
	return n
}

// slotsLeftFor counts the slots that reservations leave for a gang.
func (s *Planner) slotsLeftFor(j *framework.Job, shape *model.Shape) *slots {
	n := &slots{at: make([]int32, len(s.View.Order))}
	for _, r := range s.Reservations {
		if slices.ContainsFunc(j.Pending, func(t *model.Task) bool { return t.Shape == shape && !s.restrictsTask(r, j, t) }) {
			continue
		}
		if n.most == nil {
			n.most = slices.Repeat([]int32{math.MaxInt16}, len(n.at))
		}
		for id, row := range r.Room {
			if rank := s.View.Rank[id]; rank >= 0 {
				n.most[rank] = min(n.most[rank], SlotsIn(shape.Request, row, row))
			}
		}
	}
	for _, id := range s.View.Order {
		n.recountNode(s, shape, id)
	}
	return n
}

// recountNode updates the count for a node whose free resources changed.
func (n *slots) recountNode(s *Planner, shape *model.Shape, id model.NodeID) {
	rank := s.View.Rank[id]
	if rank < 0 {
		return
	}
	now := s.slotsOn(shape, id)
	if n.most != nil {
		now = min(now, n.most[rank])
	}
	n.sum += int(now - n.at[rank])
	n.at[rank] = now
}

// slotsOn returns how many tasks of a shape fit on a node.
func (s *Planner) slotsOn(shape *model.Shape, id model.NodeID) int32 {
	if !s.Judge.IsAllowed(shape, id) {
		return 0
	}
	return SlotsIn(shape.Request, s.View.Nodes.Row(s.View.Idle, id), s.View.Nodes.Row(s.View.Future, id))
}

// SlotsIn returns the number of pods with a request that fit into the idle and into the future amounts of a node.
func SlotsIn(request resource.Request, idle, future []int64) int32 {
	most := int64(math.MaxInt16)
	for _, t := range request {
		if t.Value > 0 {
			most = min(most, min(idle[t.Index], future[t.Index])/t.Value)
		}
	}
	return int32(max(most, 0))
}

// queueMayAllow reports whether the limits of its queue permit a gang's minimum, according to a quick check. It
// returns true for gangs with different pods.
func (s *Planner) queueMayAllow(j *framework.Job) bool {
	return len(j.PendingShapes()) != 1 || s.Rules.MayAllocate(j.In, j.MinimumRequest()).Code == ""
}
