package session

import (
	"math"
	"slices"

	"github.com/vc-batch/vc/internal/model"
)

// slots count how many tasks of a shape the nodes have room for, each by itself:
// a gang that needs more does not fit, and need not be tried.
type slots struct {
	at   []int32 // by node's rank
	most []int32 // by node's rank, what reservations leave; nil: all
	sum  int
}

// countSlots counts for all shapes of the gangs that wait.
func (f *forecaster) countSlots() {
	f.slots = map[*model.Shape]*slots{}
	for _, j := range f.jobs {
		for _, shape := range j.Shapes() {
			if f.slots[shape] == nil {
				f.slots[shape] = f.s.slotsOf(shape)
			}
		}
	}
}

// slotsOf counts for one shape.
func (s *Session) slotsOf(shape *model.Shape) *slots {
	n := &slots{at: make([]int32, len(s.View.Order))}
	for rank, id := range s.View.Order {
		n.at[rank] = s.slotsOn(shape, id)
		n.sum += int(n.at[rank])
	}
	return n
}

// slotsFor counts for a gang what reservations leave to it.
func (s *Session) slotsFor(j *Job, shape *model.Shape) *slots {
	n := &slots{at: make([]int32, len(s.View.Order))}
	for _, r := range s.Reservations {
		if slices.ContainsFunc(j.Pending, func(t *model.Task) bool { return t.Shape == shape && !s.bound(r, j, t) }) {
			continue
		}
		if n.most == nil {
			n.most = slices.Repeat([]int32{math.MaxInt16}, len(n.at))
		}
		for id, row := range r.room {
			if rank := s.View.Rank[id]; rank >= 0 {
				n.most[rank] = min(n.most[rank], slotsIn(shape.Request, row, row))
			}
		}
	}
	for _, id := range s.View.Order {
		n.recount(s, shape, id)
	}
	return n
}

// recount looks again at a node whose room changed.
func (n *slots) recount(s *Session, shape *model.Shape, id model.NodeID) {
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

// recount looks again at a node whose room changed, for all shapes.
func (f *forecaster) recount(id model.NodeID) {
	for shape, n := range f.slots {
		n.recount(f.s, shape, id)
	}
}

// slotsOn is how many tasks of a shape a node has room for.
func (s *Session) slotsOn(shape *model.Shape, id model.NodeID) int32 {
	if !s.Judge.Allowed(shape, id) {
		return 0
	}
	return slotsIn(shape.Request, s.View.Nodes.Row(s.View.Idle, id), s.View.Nodes.Row(s.View.Future, id))
}

func slotsIn(request model.Request, idle, future []int64) int32 {
	most := int64(math.MaxInt16)
	for _, t := range request {
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

// allowed says whether the limits of its queue leave room for a gang's minimum, as
// far as one look tells: true of one whose pods are not alike.
func (s *Session) allowed(j *Job) bool {
	return len(j.Shapes()) != 1 || s.Rules.MayAllocate(j.In, j.MinimumRequest()).Code == ""
}

// roomy lets end what ends until the nodes have room for a gang, each pod by
// itself, and its queue too, and says whether they come to have it: before that it
// cannot fit.
func (l *lookahead) roomy(j *Job) bool {
	shapes := j.Shapes()
	counts := make([]*slots, len(shapes))
	enough := func() bool {
		sum := 0
		for _, n := range counts {
			sum += n.sum
		}
		return sum >= j.Need() && l.s.allowed(j)
	}
	for i, shape := range shapes {
		counts[i] = l.s.slotsFor(j, shape)
	}
	for !enough() {
		if l.next == len(l.endings) {
			return false
		}
		first := l.next
		l.until(l.endings[first].At)
		for i := first; i < l.next; i++ {
			for k, shape := range shapes {
				counts[k].recount(l.s, shape, l.endings[i].Node)
			}
		}
	}
	return true
}
