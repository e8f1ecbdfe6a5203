package session

import (
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// ranked is a queue and a priority in it.
type ranked struct {
	queue    *model.Queue
	priority int32
}

// MayEnqueue is Rules.MayEnqueue for a gang that may preempt others of its queue: what these hold does not count.
// Otherwise a full queue would never admit the gang, and a gang must be admitted to preempt.
func (s *Session) MayEnqueue(j *framework.Job) explain.Verdict {
	v := s.Rules.MayEnqueue(j)
	if v.Code == "" {
		return v
	}
	yields := s.PreemptibleMinimums(j)
	if len(yields) == 0 {
		return v
	}
	j.In.AddAllocated(yields, -1)
	defer j.In.AddAllocated(yields, 1)
	if s.Rules.MayEnqueue(j).Code == "" {
		return explain.Verdict{}
	}
	return v
}

// yield holds the resources of gangs of a queue that a gang of some priority may preempt.
type yield struct {
	minimums model.Request // the part for their minimums
	all      model.Request
}

// PreemptibleMinimums returns what gangs of a job's own queue hold for their minimums that the job may preempt; nil if
// there is nothing, or if no action preempts.
func (s *Session) PreemptibleMinimums(j *framework.Job) model.Request {
	return s.preemptibleFor(j).minimums
}

// PreemptibleAmounts is like PreemptibleMinimums, but includes what these gangs hold beyond their minimums.
func (s *Session) PreemptibleAmounts(j *framework.Job) model.Request { return s.preemptibleFor(j).all }

func (s *Session) preemptibleFor(j *framework.Job) yield {
	if !s.Preempts || len(s.Rules.Outranks) == 0 {
		return yield{}
	}
	key := ranked{j.Gang.Queue, j.Priority}
	if sum, known := s.yields[key]; known {
		return sum
	}
	var minimums, all model.Vec
	for _, g := range s.holdersByQueue()[j.Gang.Queue] {
		if s.mayPreempt(j, s.Job(g)) {
			addPreemptible(&minimums, &all, g)
		}
	}
	if s.yields == nil {
		s.yields = map[ranked]yield{}
	}
	s.yields[key] = yield{toRequest(minimums), toRequest(all)}
	return s.yields[key]
}

func (s *Session) mayPreempt(taker, victim *framework.Job) bool {
	for _, f := range s.Rules.Outranks {
		if !f(taker, victim) {
			return false
		}
	}
	return true
}

// addPreemptible adds what a gang's evictable tasks hold to all, and the part for its minimum to minimums. What is
// beyond the minimum blocks no queue.
func addPreemptible(minimums, all *model.Vec, g *model.Gang) {
	var held model.Vec
	for _, t := range g.Tasks {
		if (t.Status == model.Running || t.Status == model.Bound) && !t.IsProtected() && !t.Critical {
			held.Add(t.Shape.Request)
		}
	}
	all.Add(toRequest(held))
	held.Sub(toRequest(g.Sums.Elastic))
	minimums.Add(toRequest(held))
}

// toRequest returns a vector without its zeros.
func toRequest(v model.Vec) model.Request {
	var r model.Request
	for i, amount := range v {
		if amount > 0 {
			r = append(r, model.Term{Index: int32(i), Value: amount})
		}
	}
	return r
}
