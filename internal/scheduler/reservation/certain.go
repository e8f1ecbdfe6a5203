package reservation

import (
	"slices"
	"time"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// maxStrays bounds the number of kinds of pods that take resources at unknown times. If there are more, no forecast
// is certain.
const maxStrays = 256

// certainty decides which forecasts are promises. A forecast is not a promise if another gang may take resources that
// it counts on at an unknown time. This is the case for a gang that wants more than its minimum, a gang that was not
// considered, a gang whose own start is not certain, and an overdue gang, because resources are reserved for it bit
// by bit. Such a gang does no harm if it has no nodes and no queue limits in common with the gang of the forecast, or
// if it comes later in the same queue while resources are reserved.
type certainty struct {
	s      *Planner
	out    map[*framework.Job]Forecast
	strays map[kind]*stray
	nodes  map[*model.Shape][]uint64       // by shape: the nodes that its pods may use, as a bit set
	heads  map[*queue.Queue]*framework.Job // the first gangs of their queues, for which resources are reserved
	// lost is true if no forecast is certain.
	lost bool
}

// kind identifies pods of one shape in one queue. The shape is nil for pods that do not exist yet.
type kind struct {
	in    *queue.Queue
	shape *model.Shape
}

// stray describes gangs that take resources at unknown times.
type stray struct {
	first *framework.Job // the first in the order of its queue
	only  bool
	// gated is true if some of the pods are waiting at their queue's gate or have passed it. A pod that passes the
	// gate uses part of the queue's limits before it has a node.
	gated bool
	// from is the earliest time at which they may take resources; zero for now.
	from time.Time
}

// markCertain marks the forecasts that are certain.
func (s *Planner) markCertain(out map[*framework.Job]Forecast) {
	c := &certainty{s: s, out: out, strays: map[kind]*stray{}, nodes: map[*model.Shape][]uint64{}, heads: map[*queue.Queue]*framework.Job{}, lost: s.Rules.OrderMoves}
	c.findHeads()
	var open []*framework.Job // not yet found to be uncertain
	for _, j := range s.AllWaiting {
		f := out[j]
		switch {
		case !s.mayTakeResources(j, f):
		case !c.mayBeCertain(j, f):
			c.addStray(j, time.Time{})
		default:
			open = append(open, j)
			if wantsBeyondMinimum(j) && f.Known {
				c.addStray(j, f.At)
			}
		}
	}
	for found := true; found && !c.lost; {
		found = false
		open = slices.DeleteFunc(open, func(j *framework.Job) bool {
			if !c.isDisturbed(j) {
				return false
			}
			found = true
			c.addStray(j, time.Time{})
			return true
		})
	}
	if c.lost {
		return
	}
	for _, j := range open {
		if f := out[j]; f.Known {
			f.Certain = true
			out[j] = f
		}
	}
}

// mayBeCertain reports whether the start of a gang may be certain if no other gang disturbs it.
func (c *certainty) mayBeCertain(j *framework.Job, f Forecast) bool {
	if !f.Known && f.Why != someLimits {
		return false
	}
	if j.IsAccountBound() { // nothing is reserved for it
		return false
	}
	return c.s.IsPredictable(j) && !c.becomesOverdue(j, f)
}

// findHeads finds the gangs whose reservations last until they start. No gang of their queue has its turn before
// them, so their reservations do not move to other gangs.
func (c *certainty) findHeads() {
	s := c.s
	if len(s.Reservations) == maxReservations {
		return
	}
	for _, r := range s.Reservations {
		if j := r.Job; len(j.PendingShapes()) == 1 && !j.IsStructured() { // for other gangs the same resources may not be found again after others use the rest
			c.heads[j.In] = j
		}
	}
	for _, j := range s.AllWaiting {
		head := c.heads[j.In]
		if head == nil || j == head {
			continue
		}
		if s.mayTakeResources(j, c.out[j]) && s.Rules.CompareJobs(j, head) < 0 {
			delete(c.heads, j.In)
		}
	}
}

// mayTakeResources reports whether a gang may take resources in the current state.
func (s *Planner) mayTakeResources(j *framework.Job, f Forecast) bool {
	switch {
	case f.Why == neverStarts && j.Need() > 0:
		return false
	case !j.In.Known, !j.In.Open:
		return false
	case !j.IsAdmitted() || len(j.AtGate) > 0:
		return true
	}
	return len(j.Pending) > 0 && s.Rules.CheckValid(j).Code != reason.NotEnoughPods
}

// wantsBeyondMinimum reports whether a gang has pods to place beyond its minimum.
func wantsBeyondMinimum(j *framework.Job) bool { return len(j.Pending)+len(j.AtGate) > j.Need() }

// becomesOverdue reports whether resources will be reserved for a gang bit by bit before it starts.
func (c *certainty) becomesOverdue(j *framework.Job, f Forecast) bool {
	return slices.ContainsFunc(c.s.Rules.Deadlines, func(deadline func(*framework.Job) time.Time) bool {
		at := deadline(j)
		return !at.IsZero() && (!f.Known || !at.After(f.At))
	})
}

// addStray records a gang that takes resources at an unknown time.
func (c *certainty) addStray(j *framework.Job, from time.Time) {
	shapes := j.PendingShapes()
	for _, t := range j.AtGate {
		if !slices.Contains(shapes, t.Shape) {
			shapes = append(shapes, t.Shape)
		}
	}
	if !j.IsAdmitted() && len(j.Tasks) < j.MinMember {
		shapes = append(shapes, nil)
	}
	for _, shape := range shapes {
		k := kind{j.In, shape}
		switch known := c.strays[k]; {
		case known == nil && len(c.strays) == maxStrays:
			c.lost = true
			return
		case known == nil:
			c.strays[k] = &stray{first: j, only: true, gated: j.UsesQueueGate(), from: from}
		default:
			if known.only = known.only && known.first == j; c.s.Rules.CompareJobs(j, known.first) < 0 {
				known.first = j
			}
			known.gated = known.gated || j.UsesQueueGate()
			if from.Before(known.from) {
				known.from = from
			}
		}
	}
}

// isDisturbed reports whether another gang may take resources that a gang counts on.
func (c *certainty) isDisturbed(j *framework.Job) bool {
	f := c.out[j]
	for k, u := range c.strays {
		switch {
		case u.only && u.first == j:
		case f.Known && u.from.After(f.At):
		case c.heads[k.in] == j && !u.gated && c.s.Rules.CompareJobs(j, u.first) < 0:
		case c.sharesLimitOrNode(j, k):
			return true
		}
	}
	return false
}

// sharesLimitOrNode reports whether a gang and pods of a kind use a common queue limit or node.
func (c *certainty) sharesLimitOrNode(j *framework.Job, k kind) bool {
	if k.shape == nil || shareLimits(k.in, j.In) {
		return true
	}
	theirs := c.allowedNodes(k.shape)
	return slices.ContainsFunc(j.PendingShapes(), func(shape *model.Shape) bool {
		for i, word := range c.allowedNodes(shape) {
			if word&theirs[i] != 0 {
				return true
			}
		}
		return false
	})
}

// shareLimits reports whether two queues are equal or have a common ancestor other than the root.
func shareLimits(a, b *queue.Queue) bool {
	for ; a != nil && a.Name != keys.RootQueue; a = a.Parent {
		if b.IsWithin(a) {
			return true
		}
	}
	return false
}

// allowedNodes returns the nodes that a shape may use, as a bit set by rank.
func (c *certainty) allowedNodes(shape *model.Shape) []uint64 {
	set, known := c.nodes[shape]
	if !known {
		set = make([]uint64, len(c.s.View.Order)/64+1)
		c.s.Walked += len(c.s.View.Order) / 16
		for rank, id := range c.s.View.Order {
			if c.s.Judge.IsAllowed(shape, id) {
				set[rank/64] |= 1 << (rank % 64)
			}
		}
		c.nodes[shape] = set
	}
	return set
}
