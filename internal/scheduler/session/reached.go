package session

import (
	"time"

	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// Reached reports whether a time has come. If not, the job is tried again at that time. The zero time never comes.
func (s *Session) Reached(j *framework.Job, at time.Time) bool {
	if at.IsZero() {
		return false
	}
	if !s.Now.Before(at) {
		return true
	}
	if j.DueAt.IsZero() || at.Before(j.DueAt) {
		j.DueAt = at
	}
	return false
}

// IsOverdue reports whether the job has waited longer than its deadline allows.
func (s *Session) IsOverdue(j *framework.Job) bool {
	for _, deadline := range s.Rules.Deadlines {
		if s.Reached(j, deadline(j)) {
			return true
		}
	}
	return false
}

// AttackAt requests another try of evictions for a job at the time when a protection of others ends.
func (s *Session) AttackAt(j *framework.Job, at time.Time) {
	if j.AttackAt.IsZero() || at.Before(j.AttackAt) {
		j.AttackAt = at
	}
	s.WakeAt(at)
}
