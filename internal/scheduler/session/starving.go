package session

import (
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/model"
)

// Minimum returns the tasks that bring the job to its minimum, in the order in which a round would place them.
func (j *Job) Minimum() []*model.Task {
	if len(j.groups) > 0 {
		return j.minimumWhole()
	}
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

// MinimumRequest returns the total request of the tasks of Minimum.
func (j *Job) MinimumRequest() model.Request {
	if j.minimumGen != j.Gen || len(j.Placed)+len(j.Promised) > 0 {
		j.minimum, j.minimumGen = Sum(j.Minimum()), j.Gen
	}
	return j.minimum
}

// Sum returns the total request of tasks.
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

// Starving returns the jobs that could not be placed and for which evictions may be tried: the jobs of this cycle,
// and parked ones if queues have changed since or a protection of others has ended.
func (s *Session) Starving() []*Job {
	if s.starvingKnown {
		return s.starving
	}
	s.starvingKnown = true
	for _, j := range s.AllWaiting {
		due := !j.AttackAt.IsZero() && !s.Now.Before(j.AttackAt)
		if j.Parked && j.ReclaimStamp == s.ReclaimStamp && !due || j.Parked && j.Verdict.Code == "" {
			continue
		}
		j.ReclaimStamp, j.AttackAt = s.ReclaimStamp, time.Time{}
		s.starving = append(s.starving, j)
	}
	return s.starving
}

// AttackAt requests another try of evictions for a job at the time when a protection of others ends.
func (s *Session) AttackAt(j *Job, at time.Time) {
	if j.AttackAt.IsZero() || at.Before(j.AttackAt) {
		j.AttackAt = at
	}
	s.WakeAt(at)
}

// FirstAttack reports whether this is the first try of evictions for a job in this cycle.
func (s *Session) FirstAttack(j *Job) bool {
	if s.attacked[j] {
		return false
	}
	if s.attacked == nil {
		s.attacked = map[*Job]bool{}
	}
	s.attacked[j] = true
	return true
}

// GangsByQueue returns the known gangs that hold nodes, by queue, in the reverse order of turns.
func (s *Session) GangsByQueue() map[*model.Queue][]*model.Gang {
	gangs := s.holders()
	if !s.gangsSorted {
		s.gangsSorted = true
		for _, list := range gangs {
			slices.SortFunc(list, func(a, b *model.Gang) int { return s.Rules.CompareJobs(s.Job(b), s.Job(a)) })
		}
	}
	return gangs
}

// holders returns the known gangs that hold nodes, by queue, in no order.
func (s *Session) holders() map[*model.Queue][]*model.Gang {
	if s.gangs != nil {
		return s.gangs
	}
	s.gangs = map[*model.Queue][]*model.Gang{}
	for _, g := range s.Cluster.Gangs {
		if g.Known && g.Count[model.Running]+g.Count[model.Bound] > 0 {
			s.gangs[g.Queue] = append(s.gangs[g.Queue], g)
		}
	}
	return s.gangs
}
