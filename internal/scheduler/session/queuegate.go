package session

import (
	"slices"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// Pass lets those tasks of a gang through the gate of its queue that the queue has room for: its minimum together or
// none of it, and more as long as there is room. Nodes are not asked: that is what the gate is for, that nobody adds
// nodes for what a queue holds back, and somebody does for the rest. The verdict says why none passes.
func (s *Session) Pass(j *Job) explain.Verdict {
	waiting := j.through()
	first := len(waiting)
	waiting = append(waiting, j.AtGate...)
	least := first + 1
	if s.Rules.Gang {
		least = max(j.Need(), least)
	}
	n, v := s.room(j, waiting, first, least)
	switch {
	case n < least && first >= j.Need() && first > 0: // its minimum is through, and not placed yet
		return explain.Verdict{}
	case n < least:
		return v
	}
	for _, t := range waiting[first:n] {
		s.Out.Ungates = append(s.Out.Ungates, decision.Object{Namespace: t.Namespace, Name: t.Name, UID: t.UID})
	}
	j.Passed = append(j.Passed, waiting[first:n]...)
	j.AtGate = j.AtGate[n-first:]
	s.Touch(j)
	return explain.Verdict{}
}

// through are the job's tasks that nobody's gate holds back, or no longer.
func (j *Job) through() []*model.Task {
	out := slices.DeleteFunc(slices.Clone(j.Pending), func(t *model.Task) bool { return t.Status != model.Pending })
	for _, t := range j.Tasks {
		if t.Ungating() && t.HasPassed() {
			out = append(out, t)
		}
	}
	return append(out, j.Passed...)
}

// Opening says whether tasks of the job have passed their queue's gate and the API does not say so yet.
func (j *Job) Opening() bool {
	return len(j.Passed) > 0 || j.opening
}

// room counts the tasks, first ones first, that a gang's queue may hold together beside what it keeps for others. The
// verdict is about the one that it may not, as one of those that are asked for together.
func (s *Session) room(j *Job, tasks []*model.Task, first, atLeast int) (n int, v explain.Verdict) {
	for ; n < len(tasks); n++ {
		if v = s.mayAllocate(j, tasks[n].Shape.Request); v.Code != "" {
			break
		}
		if v = s.keptFrom(j, tasks[n]); n >= first && v.Code != "" {
			break
		}
		j.In.Hold(tasks[n].Shape.Request, 1)
	}
	for _, t := range tasks[:n] {
		j.In.Hold(t.Shape.Request, -1)
	}
	v.Members = s.members(j, 0)
	if v.Limit == nil {
		return n, v
	}
	if index, ok := s.Cluster.Resources.Find(v.Limit.Resource); ok {
		limit := *v.Limit
		limit.Asked = float64(Sum(tasks[:min(atLeast, len(tasks))]).Get(index))
		limit.Least = least(tasks, nil, atLeast, index)
		limit.Held -= float64(Sum(tasks[:n]).Get(index))
		v.Limit = &limit
	}
	return n, v
}

// keptFrom says for whom a queue keeps room that a task behind its gate would take. Whether it ends in time does not
// count: what passed the gate holds its room for as long as no node is found for it, too.
func (s *Session) keptFrom(j *Job, t *model.Task) explain.Verdict {
	return s.keptBy(func(r *Reservation) bool { return s.after(r, j) }, j, t)
}

// mayAllocate is Rules.MayAllocate beside what queues keep for tasks of other gangs that passed their gates.
func (s *Session) mayAllocate(j *Job, asked model.Request) explain.Verdict {
	return s.mayHold(j.In, asked, j, nil)
}

// mayHold is mayAllocate for a queue, but for what is kept for two gangs.
func (s *Session) mayHold(q *queue.Queue, asked model.Request, one, two *Job) explain.Verdict {
	if s.alone || !s.Cluster.QueueGates() {
		return s.Rules.MayAllocate(q, asked)
	}
	for _, other := range s.passed() {
		if other == one || other == two {
			continue
		}
		kept := Sum(slices.DeleteFunc(other.through(), func(t *model.Task) bool { return !t.HasPassed() && !slices.Contains(other.Passed, t) }))
		other.In.Hold(kept, 1)
		defer other.In.Hold(kept, -1)
	}
	return s.Rules.MayAllocate(q, asked)
}

// passed are the gangs that hold room in their queues for tasks that have passed the gate, or do in this cycle.
func (s *Session) passed() []*Job {
	inVain := s.PassedInVain()
	var out []*Job
	for _, j := range s.AllWaiting {
		if len(j.Passed) > 0 || j.hasPassed() && !inVain[j] {
			out = append(out, j)
		}
	}
	return out
}

// hasPassed reports whether tasks of the gang have passed their queue's gate and have no node.
func (j *Job) hasPassed() bool { return slices.ContainsFunc(j.Tasks, (*model.Task).HasPassed) }

// PassedInVain returns the gangs with tasks past their queue's gate that could not start whatever ended, where no nodes are added
// for what waits. Their queues hold nothing for them.
func (s *Session) PassedInVain() map[*Job]bool {
	if s.inVain != nil {
		return s.inVain
	}
	s.inVain = map[*Job]bool{}
	if !s.Cluster.QueueGates() {
		return s.inVain
	}
	var passed []*Job
	for _, j := range s.AllWaiting {
		if !j.In.Grows() && j.hasPassed() {
			passed = append(passed, j)
		}
	}
	s.judgeCould(passed)
	for _, j := range passed {
		if !s.could[j] {
			s.inVain[j] = true
		}
	}
	return s.inVain
}
