package session

import (
	"slices"
	"time"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// maxStrays bounds the kinds of pods that are looked at of which nobody knows when they take room; with more, nothing is certain.
const maxStrays = 256

// certainty tells which forecasts are promises. One is not when a gang may take room that it counts on, and nobody knows when:
// one that wants more than its minimum, that was not looked at, whose own start is not certain, or for which room will be kept bit
// by bit since it is due. Who shares no node and no limit of a queue with it is no danger, nor who comes after it in its queue
// while room is kept for it.
type certainty struct {
	s      *Session
	out    map[*Job]Forecast
	strays map[kind]*stray
	nodes  map[*model.Shape][]uint64 // where pods of a shape may be, a bit each
	heads  map[*queue.Queue]*Job     // the first of their queue, for whom room is kept
	// lost: nothing is certain.
	lost bool
}

// kind are pods of one shape in one queue; a nil shape is of pods that do not exist yet.
type kind struct {
	in    *queue.Queue
	shape *model.Shape
}

// stray is who takes room nobody knows when.
type stray struct {
	first *Job // in the order of its queue
	only  bool
	// from is when it may take some at the earliest; zero: now.
	from time.Time
}

// ascertain marks the forecasts that are certain.
func (s *Session) ascertain(out map[*Job]Forecast) {
	c := &certainty{s: s, out: out, strays: map[kind]*stray{}, nodes: map[*model.Shape][]uint64{}, heads: map[*queue.Queue]*Job{}, lost: s.Rules.OrderMoves}
	c.findHeads()
	var open []*Job // not found to be uncertain
	for _, j := range s.AllWaiting {
		f := out[j]
		switch {
		case !s.takes(j, f):
		case !f.Known && f.Why != noLimits || !s.foreseeable(j) || c.due(j, f):
			c.stray(j, time.Time{})
		default:
			open = append(open, j)
			if wantsMore(j) && f.Known {
				c.stray(j, f.At)
			}
		}
	}
	for found := true; found && !c.lost; {
		found = false
		open = slices.DeleteFunc(open, func(j *Job) bool {
			if !c.disturbed(j) {
				return false
			}
			found = true
			c.stray(j, time.Time{})
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

// findHeads notes for whom room stays kept until they start: no gang of their queue has its turn before them, so that none comes
// to be the one that room is kept for instead.
func (c *certainty) findHeads() {
	s := c.s
	if len(s.Reservations) == maxReservations {
		return
	}
	for _, r := range s.Reservations {
		if j := r.Job; len(j.Shapes()) == 1 && !j.Structured() { // others may not be found the same room again when others use the rest
			c.heads[j.In] = j
		}
	}
	for _, j := range s.AllWaiting {
		if head := c.heads[j.In]; head != nil && j != head && s.takes(j, c.out[j]) && s.Rules.CompareJobs(j, head) < 0 {
			delete(c.heads, j.In)
		}
	}
}

// takes says whether a gang may come to take room as things are.
func (s *Session) takes(j *Job, f Forecast) bool {
	switch {
	case f.Why == neverStarts && j.Need() > 0 || !j.In.Known || !j.In.Open:
		return false
	case !j.LetIn() || len(j.AtGate) > 0:
		return true
	}
	return len(j.Pending) > 0 && s.Rules.Valid(j).Code != reason.NotEnoughPods
}

// wantsMore says whether a gang has pods to place beyond its minimum.
func wantsMore(j *Job) bool { return len(j.Pending)+len(j.AtGate) > j.Need() }

// due says whether room will be kept for a gang as it becomes free, before it starts.
func (c *certainty) due(j *Job, f Forecast) bool {
	return slices.ContainsFunc(c.s.Rules.Deadlines, func(deadline func(*Job) time.Time) bool {
		at := deadline(j)
		return !at.IsZero() && (!f.Known || !at.After(f.At))
	})
}

// stray notes a gang of which nobody knows when it takes room.
func (c *certainty) stray(j *Job, from time.Time) {
	shapes := j.Shapes()
	for _, t := range j.AtGate {
		if !slices.Contains(shapes, t.Shape) {
			shapes = append(shapes, t.Shape)
		}
	}
	if !j.LetIn() && len(j.Tasks) < j.MinMember {
		shapes = append(shapes, nil)
	}
	for _, shape := range shapes {
		k := kind{j.In, shape}
		switch known := c.strays[k]; {
		case known == nil && len(c.strays) == maxStrays:
			c.lost = true
			return
		case known == nil:
			c.strays[k] = &stray{first: j, only: true, from: from}
		default:
			if known.only = known.only && known.first == j; c.s.Rules.CompareJobs(j, known.first) < 0 {
				known.first = j
			}
			if from.Before(known.from) {
				known.from = from
			}
		}
	}
}

// disturbed says whether somebody may take room that a gang counts on.
func (c *certainty) disturbed(j *Job) bool {
	f := c.out[j]
	for k, u := range c.strays {
		switch {
		case u.only && u.first == j:
		case f.Known && u.from.After(f.At):
		case c.heads[k.in] == j && c.s.Rules.CompareJobs(j, u.first) < 0:
		case c.meets(j, k):
			return true
		}
	}
	return false
}

// meets says whether a gang shares a limit of a queue or a node with others.
func (c *certainty) meets(j *Job, k kind) bool {
	if k.shape == nil || sameLimits(k.in, j.In) {
		return true
	}
	theirs := c.allowed(k.shape)
	return slices.ContainsFunc(j.Shapes(), func(shape *model.Shape) bool {
		for i, word := range c.allowed(shape) {
			if word&theirs[i] != 0 {
				return true
			}
		}
		return false
	})
}

// sameLimits says whether two queues are one, or below one that is not the root.
func sameLimits(a, b *queue.Queue) bool {
	for ; a != nil && a.Name != keys.RootQueue; a = a.Parent {
		if b.Within(a) {
			return true
		}
	}
	return false
}

// allowed are the nodes that a shape may be on, by their rank.
func (c *certainty) allowed(shape *model.Shape) []uint64 {
	set, known := c.nodes[shape]
	if !known {
		set = make([]uint64, len(c.s.View.Order)/64+1)
		c.s.Walked += len(c.s.View.Order) / 16
		for rank, id := range c.s.View.Order {
			if c.s.Judge.Allowed(shape, id) {
				set[rank/64] |= 1 << (rank % 64)
			}
		}
		c.nodes[shape] = set
	}
	return set
}
