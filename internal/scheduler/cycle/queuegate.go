package cycle

import (
	"slices"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/reservation"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// PassQueueGate opens the gate for the tasks of a gang that its queue has free capacity for. The tasks of the minimum
// pass together or not at all, and further tasks pass as long as there is free capacity. Nodes are not considered,
// because the gate exists for autoscalers: they add nodes for the pods that have passed, but none for the pods that a
// queue holds back. If no task passes, the verdict holds the reason.
func (s *Cycle) PassQueueGate(j *framework.Job) explain.Verdict {
	waiting := j.TasksPastGate()
	first := len(waiting)
	waiting = append(waiting, j.AtGate...)
	least := first + 1
	if s.Rules.Gang {
		least = max(j.Need(), least)
	}
	n, v := s.countAllowed(j, waiting, first, least)
	switch {
	case n < least && first >= j.Need() && first > 0: // its minimum has passed and has not been placed yet
		return explain.Verdict{}
	case n < least:
		return v
	}
	for _, t := range waiting[first:n] {
		s.Out.Ungates = append(s.Out.Ungates, decision.Object{Namespace: t.Namespace, Name: t.Name, UID: t.UID})
	}
	j.Passed = append(j.Passed, waiting[first:n]...)
	j.AtGate = j.AtGate[n-first:]
	delete(s.could, j) // nodes matter now, see couldStartByLimits
	s.Touch(j)
	return explain.Verdict{}
}

// countAllowed counts how many tasks, in order, a gang's queue may hold together in addition to what it reserves for
// others. The verdict is about the first task that the queue may not hold, with the request of the tasks that must
// start together.
func (s *Cycle) countAllowed(j *framework.Job, tasks []*model.Task, first, atLeast int) (n int, v explain.Verdict) {
	var together resource.Vec
	for ; n < len(tasks); n++ {
		together.Add(tasks[n].Shape.Request)
		if v = s.Rules.CheckHoldable(j, together.Request()); v.Code != "" {
			break
		}
		if v = s.MayAllocate(j, tasks[n].Shape.Request); v.Code != "" {
			break
		}
		if v = s.checkReservedAtGate(j, tasks[n]); n >= first && v.Code != "" {
			break
		}
		j.In.AddAllocated(tasks[n].Shape.Request, 1)
	}
	for _, t := range tasks[:n] {
		j.In.AddAllocated(t.Shape.Request, -1)
	}
	v.Members = s.Members(j, 0)
	if v.Limit == nil {
		return n, v
	}
	if index, ok := s.Cluster.Resources.Find(v.Limit.Resource); ok {
		limit := *v.Limit
		limit.Asked = limit.InUnits(float64(framework.SumRequests(tasks[:min(atLeast, len(tasks))]).Get(index)))
		limit.Least = limit.InUnits(session.LeastRequest(tasks, nil, atLeast, index))
		limit.Held -= limit.InUnits(float64(framework.SumRequests(tasks[:n]).Get(index)))
		v.Limit = &limit
	}
	return n, v
}

// checkReservedAtGate returns a verdict if a gated task would use resources that a queue reserves for another gang.
// The task's run time does not matter, because a task that has passed the gate holds its reservation until a node is
// found for it.
func (s *Cycle) checkReservedAtGate(j *framework.Job, t *model.Task) explain.Verdict {
	return s.CheckReservedBy(func(r *reservation.Reservation) bool { return s.IsBehind(r, j) }, j, t)
}

// MayAllocate is like Rules.MayAllocate, but also checks the limits of the gang's account, and counts what queues reserve
// for tasks of other gangs that have passed their gates.
func (s *Cycle) MayAllocate(j *framework.Job, asked resource.Request) explain.Verdict {
	if !s.InForecast() { // a forecast checks the limits of accounts with a LimitForecast
		if v := s.Rules.CheckHoldable(j, asked); v.Code != "" {
			return v
		}
	}
	return s.MayHold(j.In, asked, j, nil)
}

// MayHold is like MayAllocate for any queue. It ignores what queues reserve for the two given gangs.
func (s *Cycle) MayHold(q *queue.Queue, asked resource.Request, one, two *framework.Job) explain.Verdict {
	if s.alone || !s.Cluster.HasQueueGates() {
		return s.Rules.MayAllocate(q, asked)
	}
	for _, other := range s.passedGangs() {
		if other == one || other == two {
			continue
		}
		kept := framework.SumRequests(slices.DeleteFunc(other.TasksPastGate(), func(t *model.Task) bool { return !t.HasPassedGate() && !slices.Contains(other.Passed, t) }))
		other.In.AddAllocated(kept, 1)
		defer other.In.AddAllocated(kept, -1)
	}
	return s.Rules.MayAllocate(q, asked)
}

// passedGangs returns the gangs whose queues reserve resources for tasks that have passed the gate before or in this
// cycle.
func (s *Cycle) passedGangs() []*framework.Job {
	inVain := s.PassedInVain()
	var out []*framework.Job
	for _, j := range s.AllWaiting {
		if len(j.Passed) > 0 || (j.HasPassedGate() && !inVain[j]) {
			out = append(out, j)
		}
	}
	return out
}

// PassedInVain returns the gangs with tasks past their queues' gates that could not start even on an empty cluster.
// It leaves out gangs for which nodes may be added. Queues reserve nothing for the returned gangs.
func (s *Cycle) PassedInVain() map[*framework.Job]bool {
	if s.inVain != nil {
		return s.inVain
	}
	s.inVain = map[*framework.Job]bool{}
	if !s.Cluster.HasQueueGates() {
		return s.inVain
	}
	var passed []*framework.Job
	for _, j := range s.AllWaiting {
		if !j.In.Grows() && j.HasPassedGate() {
			passed = append(passed, j)
		}
	}
	s.judgeCouldStart(passed)
	for _, j := range passed {
		if !s.could[j] {
			s.inVain[j] = true
		}
	}
	return s.inVain
}
