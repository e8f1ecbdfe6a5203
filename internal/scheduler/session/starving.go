package session

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
)

// Minimum are the tasks that bring the job to its minimum, in the order in which
// a round would take them.
func (j *Job) Minimum() []*model.Task {
	needs, need := j.RoleNeeds(), j.Need()
	var out []*model.Task
	taken := map[*model.Task]bool{}
	for _, t := range j.Pending {
		if needs[t.Role] > 0 {
			needs[t.Role]--
			out = append(out, t)
			taken[t] = true
		}
	}
	for _, t := range j.Pending {
		if len(out) >= need {
			break
		}
		if !taken[t] {
			out = append(out, t)
		}
	}
	return out
}

// MinimumRequest is what the tasks of Minimum ask for together.
func (j *Job) MinimumRequest() model.Request {
	if j.minimumGen != j.Gen || len(j.Placed)+len(j.Promised) > 0 {
		j.minimum, j.minimumGen = Sum(j.Minimum()), j.Gen
	}
	return j.minimum
}

// Sum is what tasks ask for together.
func Sum(tasks []*model.Task) model.Request {
	var sum model.Vec
	for _, t := range tasks {
		sum.Add(t.Shape.Request)
	}
	var r model.Request
	for i, v := range sum {
		if v > 0 {
			r = append(r, model.Term{Index: int32(i), Value: v})
		}
	}
	return r
}

// Starving are the jobs that could not be placed and for which evictions may be
// tried: those of this cycle, and parked ones when queues have changed since.
func (s *Session) Starving() []*Job {
	var out []*Job
	for _, j := range s.AllWaiting {
		if !j.Parked || j.ReclaimStamp != s.ReclaimStamp {
			if j.Parked && j.Verdict.Code == "" {
				continue
			}
			j.ReclaimStamp = s.ReclaimStamp
			out = append(out, j)
		}
	}
	return out
}

// GangsByQueue lists the known gangs that hold nodes, by queue, those whose turn
// comes last first.
func (s *Session) GangsByQueue() map[*model.Queue][]*model.Gang {
	if s.gangs != nil {
		return s.gangs
	}
	s.gangs = map[*model.Queue][]*model.Gang{}
	for _, g := range s.Cluster.Gangs {
		if g.Known && g.Count[model.Running]+g.Count[model.Bound] > 0 {
			s.gangs[g.Queue] = append(s.gangs[g.Queue], g)
		}
	}
	for _, list := range s.gangs {
		slices.SortFunc(list, func(a, b *model.Gang) int { return s.Rules.CompareJobs(s.Job(b), s.Job(a)) })
	}
	return s.gangs
}

// Evicted counts an eviction and makes sure that nobody plans with the task again
// in this cycle.
func (s *Session) Evicted(g *model.Gang) {
	if j := s.Job(g); j != nil {
		j.Evicted++
		s.Touch(j)
	}
	s.Out.Stats.Victims++
	for q, list := range s.gangs {
		if q == g.Queue {
			s.gangs[q] = slices.DeleteFunc(list, func(other *model.Gang) bool { return other == g })
		}
	}
}

// SameAs gives a job that was not tried the verdict that its kind got.
func (s *Session) SameAs(j *Job) {
	if s.blockers == nil || j.Verdict.Code != reason.GangDoesNotFit {
		return
	}
	if blockers := s.blockers[j.In.Queue]; len(blockers) > 0 {
		v := j.Verdict
		v.Code, v.Blocker = reason.NotReclaimable, blockers
		s.Verdict(j, v)
	}
}

// NoteBlockers remembers which queues did not give back to a queue.
func (s *Session) NoteBlockers(q *model.Queue, v explain.Verdict) {
	if s.blockers == nil {
		s.blockers = map[*model.Queue][]string{}
	}
	s.blockers[q] = v.Blocker
}
