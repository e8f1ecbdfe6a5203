package session

import (
	"slices"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// MayEnqueue is like Rules.MayEnqueue, but does not count what gangs hold that the given gang may preempt in its
// queue. Otherwise, a full queue would never admit the gang, and a gang must be admitted before it can preempt.
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

// PreemptibleMinimums returns what gangs in a job's queue that the job may preempt hold for their minimums; nil if
// there is nothing, or if no action preempts.
func (s *Session) PreemptibleMinimums(j *framework.Job) resource.Request {
	return s.preemptibleFor(j).minimums
}

// PreemptibleAmounts is like PreemptibleMinimums, but includes what these gangs hold beyond their minimums.
func (s *Session) PreemptibleAmounts(j *framework.Job) resource.Request {
	return s.preemptibleFor(j).all
}

func (s *Session) preemptibleFor(j *framework.Job) yield {
	if !s.Preempts || len(s.Rules.Outranks) == 0 {
		return yield{}
	}
	key := ranked{j.In.Queue, j.Priority}
	if sum, known := s.holders.yields[key]; known {
		return sum
	}
	var minimums, all resource.Vec
	for _, g := range s.holdersByQueue()[j.In.Queue] {
		if s.mayPreempt(j, s.Job(g)) {
			addPreemptible(&minimums, &all, g)
		}
	}
	if s.holders.yields == nil {
		s.holders.yields = map[ranked]yield{}
	}
	s.holders.yields[key] = yield{ToRequest(minimums), ToRequest(all)}
	return s.holders.yields[key]
}

func (s *Session) mayPreempt(taker, victim *framework.Job) bool {
	for _, f := range s.Rules.Outranks {
		if !f(taker, victim) {
			return false
		}
	}
	return true
}

// addPreemptible adds what a gang's evictable tasks hold to all, and the part that belongs to its minimum to
// minimums. Amounts beyond the minimum do not block the admission to a queue.
func addPreemptible(minimums, all *resource.Vec, g *model.Gang) {
	var held resource.Vec
	for _, t := range g.Tasks {
		isOnNode := t.Status == model.Running || t.Status == model.Bound
		if isOnNode && !t.IsProtected() && !t.Critical {
			held.Add(t.Shape.Request)
		}
	}
	all.Add(ToRequest(held))
	held.Sub(ToRequest(g.Sums.Elastic))
	minimums.Add(ToRequest(held))
}

// ToRequest converts a vector to a request, which omits values that are not positive.
func ToRequest(v resource.Vec) resource.Request {
	var r resource.Request
	for i, amount := range v {
		if amount > 0 {
			r = append(r, resource.Term{Index: int32(i), Value: amount})
		}
	}
	return r
}

// GangsByQueue returns the known gangs that hold nodes, by queue, in the reverse order of turns.
func (s *Session) GangsByQueue() map[*model.Queue][]*model.Gang {
	gangs := s.holdersByQueue()
	if !s.holders.sorted {
		s.holders.sorted = true
		for _, list := range gangs {
			slices.SortFunc(list, func(a, b *model.Gang) int { return s.Rules.CompareJobs(s.Job(b), s.Job(a)) })
		}
	}
	return gangs
}

// holdersByQueue returns the known gangs that hold nodes, by queue, in no order.
func (s *Session) holdersByQueue() map[*model.Queue][]*model.Gang {
	if s.holders.byQueue != nil {
		return s.holders.byQueue
	}
	s.holders.byQueue = map[*model.Queue][]*model.Gang{}
	for _, g := range s.Cluster.Gangs {
		if g.Known && g.Count[model.Running]+g.Count[model.Bound] > 0 {
			s.holders.byQueue[g.Queue] = append(s.holders.byQueue[g.Queue], g)
		}
	}
	return s.holders.byQueue
}

// DropHolder removes a gang from the result of GangsByQueue.
func (s *Session) DropHolder(g *model.Gang) {
	list := s.holders.byQueue[g.Queue]
	if i := slices.Index(list, g); i >= 0 {
		s.holders.byQueue[g.Queue] = append(list[:i:i], list[i+1:]...)
	}
}
