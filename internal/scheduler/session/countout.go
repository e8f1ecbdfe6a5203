package session

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// CountOut counts a running task as leaving (1), or as staying again (-1): in the
// overlay, its queue, its gang and what rules keep.
func (s *Session) CountOut(t *model.Task, from *queue.Queue, sign int) {
	if sign > 0 {
		s.View.Evict(t.Node, t)
	} else {
		s.View.Spare(t.Node, t)
	}
	from.Hold(t.Shape.Request, float64(-sign))
	s.Trying += sign
	s.FollowEvicted(t, sign)
	if j := s.Job(t.Gang); j != nil {
		j.leave(t, sign)
	}
}

// leave follows CountOut.
func (j *Job) leave(t *model.Task, sign int) {
	if j.Leaving == nil {
		j.Leaving = map[*model.Task]bool{}
	}
	j.Evicted += sign
	if sign > 0 {
		j.Leaving[t] = true
	} else {
		delete(j.Leaving, t)
	}
}

// Held is what the gang holds now: with what this cycle gave to it and without
// what it takes from it, tries included.
func (j *Job) Held() model.Vec {
	held := j.Sums.Allocated.Clone()
	for _, list := range [][]Placed{j.Placed, j.Promised} {
		for _, p := range list {
			if p.Task.Status != model.Pipelined {
				held.Add(p.Task.Shape.Request)
			}
		}
	}
	for _, t := range j.Released {
		held.Sub(t.Shape.Request)
	}
	for t := range j.Leaving {
		held.Sub(t.Shape.Request)
	}
	return held
}

// Evicted has the status of a gang looked at from which tasks were taken, and
// makes sure that nobody plans with it again in this cycle.
func (s *Session) Evicted(g *model.Gang, tasks int) {
	if j := s.Job(g); j != nil {
		s.ease(j.In)
		s.Touch(j)
	}
	s.Out.Stats.Victims += tasks
	for i, other := range s.gangs[g.Queue] {
		if other == g {
			list := s.gangs[g.Queue]
			s.gangs[g.Queue] = append(list[:i:i], list[i+1:]...)
			return
		}
	}
}

// yields is what the gangs of a queue hold that a priority may preempt.
type yields struct {
	queue    *model.Queue
	priority int32
}

// Yields is what gangs of a job's own queue hold that it may preempt, by
// resource; nil when nothing, or when no action preempts. A full queue lets such
// a gang in all the same: else it could never preempt.
func (s *Session) Yields(j *Job) []float64 {
	if !s.Preempts || len(s.Rules.Outranks) == 0 {
		return nil
	}
	key := yields{j.Gang.Queue, j.Priority}
	if sum, known := s.yields[key]; known {
		return sum
	}
	var sum []float64
	for _, g := range s.GangsByQueue()[j.Gang.Queue] {
		if s.outranks(j, s.Job(g)) {
			sum = addHeld(sum, g, s.Cluster.Resources.Len())
		}
	}
	if s.yields == nil {
		s.yields = map[yields][]float64{}
	}
	s.yields[key] = sum
	return sum
}

func (s *Session) outranks(taker, victim *Job) bool {
	for _, f := range s.Rules.Outranks {
		if !f(taker, victim) {
			return false
		}
	}
	return true
}

func addHeld(sum []float64, g *model.Gang, resources int) []float64 {
	for _, t := range g.Tasks {
		if t.Status != model.Running && t.Status != model.Bound || !t.Preemptable || t.Critical {
			continue
		}
		if sum == nil {
			sum = make([]float64, resources)
		}
		for _, term := range t.Shape.Request {
			sum[term.Index] += float64(term.Value)
		}
	}
	return sum
}
