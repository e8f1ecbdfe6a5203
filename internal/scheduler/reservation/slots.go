package reservation

import (
	"math"
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// slots counts how many tasks of a shape the nodes have room for, ignoring other shapes. A gang that needs more
// does not fit and is not tried.
type slots struct {
	at   []int32 // by node rank
	most []int32 // by node rank: what reservations leave; nil for no restriction
	sum  int
}

// countSlots counts the slots for all shapes of the waiting gangs.
func (f *forecaster) countSlots() {
	f.slots = map[*model.Shape]*slots{}
	for _, j := range f.jobs {
		for _, shape := range j.PendingShapes() {
			if f.slots[shape] == nil {
				f.slots[shape] = f.s.slotsOf(shape)
			}
		}
	}
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

// slotsLeftFor counts the slots that reservations leave to a gang.
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

// recountNode updates the counts of all shapes for a node whose free resources changed.
func (f *forecaster) recountNode(id model.NodeID) {
	for shape, n := range f.slots {
		n.recountNode(f.s, shape, id)
	}
}

// slotsOn returns how many tasks of a shape a node has room for.
func (s *Planner) slotsOn(shape *model.Shape, id model.NodeID) int32 {
	if !s.Judge.IsAllowed(shape, id) {
		return 0
	}
	return SlotsIn(shape.Request, s.View.Nodes.Row(s.View.Idle, id), s.View.Nodes.Row(s.View.Future, id))
}

func SlotsIn(request model.Request, idle, future []int64) int32 {
	most := int64(math.MaxInt16)
	for _, t := range request {
		if t.Value > 0 {
			most = min(most, min(idle[t.Index], future[t.Index])/t.Value)
		}
	}
	return int32(max(most, 0))
}

// nodesMayFit reports whether a gang may fit, as far as the nodes' free resources show.
func (f *forecaster) nodesMayFit(j *framework.Job) bool {
	sum := 0
	for _, shape := range j.PendingShapes() {
		if sum += f.slots[shape].sum; sum >= j.Need() {
			return true
		}
	}
	return false
}

// queueMayAllow reports whether the limits of its queue leave room for a gang's minimum, as far as a quick check shows:
// it returns true for gangs with different pods.
func (s *Planner) queueMayAllow(j *framework.Job) bool {
	return len(j.PendingShapes()) != 1 || s.Rules.MayAllocate(j.In, j.MinimumRequest()).Code == ""
}

// advanceToCapacity advances the forecast until the nodes have room for a gang, counting each pod separately, and its
// queue has too. It reports whether this happens. Before that time the gang cannot fit.
func (l *Lookahead) advanceToCapacity(j *framework.Job) bool {
	shapes := j.PendingShapes()
	counts := make([]*slots, len(shapes))
	enough := func() bool {
		sum := 0
		for _, n := range counts {
			sum += n.sum
		}
		return sum >= j.Need() && l.s.queueMayAllow(j)
	}
	for i, shape := range shapes {
		counts[i] = l.s.slotsLeftFor(j, shape)
	}
	for !enough() {
		if l.next == len(l.endings) {
			return false
		}
		first := l.next
		l.AdvanceTo(l.endings[first].At)
		for i := first; i < l.next; i++ {
			for k, shape := range shapes {
				counts[k].recountNode(l.s, shape, l.endings[i].Node)
			}
		}
	}
	return true
}
