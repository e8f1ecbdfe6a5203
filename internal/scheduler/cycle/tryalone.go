package cycle

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/placement"
	"github.com/vc-batch/vc/internal/scheduler/reservation"
)

// tryAlone finds out, by placing each gang on its own, which gangs would start if all pods that run for gangs ended.
func (s *Cycle) tryAlone(jobs ...*framework.Job) {
	if len(jobs) == 0 {
		return
	}
	s.alone = true
	looked, walked := s.Looked, s.Walked
	rules, reservations := s.Rules.Nodes, s.Reservations
	s.Rules.Nodes, s.Reservations = rules[:len(rules)-len(reservations):len(rules)-len(reservations)], nil
	var undos []func()
	for _, q := range s.Ledger.Queues {
		undos = append(undos, q.SimulateEmpty())
	}
	l := s.simulateAllEnded(nil, false)
	for _, j := range jobs {
		if j.AllocatedTasks() == 0 {
			s.cacheCouldStart(j, l.WouldFit(j, placement.Capability))
		}
	}
	l.Close()
	for _, j := range jobs {
		if j.AllocatedTasks() > 0 { // its own pods stay
			s.cacheCouldStart(j, s.fitsAlone(j, false))
		}
		if !s.could[j] && s.dependsOnOthers(j) {
			s.cacheCouldStart(j, s.fitsAlone(j, true))
		}
	}
	for _, undo := range undos {
		undo()
	}
	s.Rules.Nodes, s.Reservations = rules, reservations
	s.Looked, s.Walked = looked, walked
	s.alone = false
}

// fitsAlone reports whether a gang would fit if no other gang ran. The gang's own running pods stay.
func (s *Cycle) fitsAlone(j *framework.Job, remembered bool) bool {
	s.holdOwnPods(j, 1)
	l := s.simulateAllEnded(j, remembered)
	fits := l.WouldFit(j, placement.Capability)
	l.Close()
	s.holdOwnPods(j, -1)
	return fits
}

// dependsOnOthers reports whether the choice of nodes for the gang's tasks depends on other pods.
func (s *Cycle) dependsOnOthers(j *framework.Job) bool {
	_, first := j.WaitingShapes()
	for _, t := range first {
		if t.Shape.Slow || s.PodCounts.ProfileFor(t) != nil {
			return true
		}
	}
	return false
}

// simulateAllEnded simulates the end of all pods that run for gangs, except for the pods of one gang, which may be
// nil. Pods without a gang stay, because it is unknown when they end. If remembered is true, pods that have ended
// still count in pod affinity rules. The caller handles what queues hold.
func (s *Cycle) simulateAllEnded(stays *framework.Job, remembered bool) *reservation.Lookahead {
	evicted := s.evictedTasks()
	var endings []reservation.Ending
	for _, id := range s.View.Order {
		for _, t := range s.View.Nodes.Tasks[id] {
			if stays != nil && t.Gang == stays.Gang && t.Status != model.Pipelined {
				continue
			}
			if e, ends := s.endOf(t, id, evicted[t]); ends {
				endings = append(endings, e)
			}
		}
	}
	for _, j := range s.Bound {
		if j == stays {
			continue
		}
		for _, p := range j.Placed {
			endings = append(endings, reservation.Ending{At: s.Now, Task: p.Task, Node: p.Node, Promised: p.Waits})
		}
		for _, p := range j.Promised {
			endings = append(endings, reservation.Ending{At: s.Now, Task: p.Task, Node: p.Node, Promised: true})
		}
	}
	kept := len(endings)
	endings = s.AppendHeldEndings(endings)
	for i := range endings[kept:] {
		endings[kept+i].At, endings[kept+i].Queue = s.Now, nil
	}
	return s.StartLookaheadFor(endings, remembered)
}

// evictedTasks returns the tasks that this cycle has evicted.
func (s *Cycle) evictedTasks() map[*model.Task]bool {
	evicted := map[*model.Task]bool{}
	for i := range s.Out.Evicts {
		if t := s.Cluster.Task(s.Out.Evicts[i].Pod.UID); t != nil {
			evicted[t] = true
		}
	}
	return evicted
}

// endOf returns the simulated end of a task on a node. It returns false if the task stays.
func (s *Cycle) endOf(t *model.Task, id model.NodeID, evicted bool) (reservation.Ending, bool) {
	e := reservation.Ending{At: s.Now, Task: t, Node: id}
	switch {
	case t.Status == model.Releasing || evicted:
		e.Leaving = true
	case t.Gang == nil:
		return e, t.Status == model.Lingering
	case t.Status == model.Pipelined:
		j := s.Job(t.Gang)
		e.Promised = true
		return e, j != nil && slices.Contains(j.Reserved, t) // otherwise its promise was cancelled in this cycle
	}
	return e, true
}

// cacheCouldStart caches a result for the rest of the cycle.
func (s *Cycle) cacheCouldStart(j *framework.Job, could bool) {
	if s.could == nil {
		s.could = map[*framework.Job]bool{}
	}
	s.could[j] = could
}

// holdOwnPods counts the gang's own pods as held by its vacated queue if sign is 1, and reverses this if sign is -1.
func (s *Cycle) holdOwnPods(j *framework.Job, sign float64) {
	if j.AllocatedTasks() == 0 {
		return
	}
	for _, t := range j.Tasks {
		if t.Status.IsAllocated() {
			j.In.AddAllocated(t.Shape.Request, sign)
			j.In.AddOccupied(t.Shape.Request, sign)
		}
	}
}
