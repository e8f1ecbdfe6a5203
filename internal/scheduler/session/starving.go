package session

import (
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// StarvingJobs returns the jobs that could not be placed and for which evictions may be tried: the jobs of this cycle,
// and parked ones if queues have changed since or a protection of others has ended.
func (s *Session) StarvingJobs() []*framework.Job {
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
func (s *Session) AttackAt(j *framework.Job, at time.Time) {
	if j.AttackAt.IsZero() || at.Before(j.AttackAt) {
		j.AttackAt = at
	}
	s.WakeAt(at)
}

// MarkFirstAttack reports whether this is the first attempt in this cycle to evict pods for a job.
func (s *Session) MarkFirstAttack(j *framework.Job) bool {
	if s.attacked[j] {
		return false
	}
	if s.attacked == nil {
		s.attacked = map[*framework.Job]bool{}
	}
	s.attacked[j] = true
	return true
}

// GangsByQueue returns the known gangs that hold nodes, by queue, in the reverse order of turns.
func (s *Session) GangsByQueue() map[*model.Queue][]*model.Gang {
	gangs := s.holdersByQueue()
	if !s.gangsSorted {
		s.gangsSorted = true
		for _, list := range gangs {
			slices.SortFunc(list, func(a, b *model.Gang) int { return s.Rules.CompareJobs(s.Job(b), s.Job(a)) })
		}
	}
	return gangs
}

// holdersByQueue returns the known gangs that hold nodes, by queue, in no order.
func (s *Session) holdersByQueue() map[*model.Queue][]*model.Gang {
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
