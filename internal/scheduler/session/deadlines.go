package session

import (
	"time"

	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// ReachedOrRetryAt reports whether a time has been reached. If not, it requests that the job is tried again at that
// time. The zero time is never reached.
func (s *Session) ReachedOrRetryAt(j *framework.Job, at time.Time) bool {
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

// IsOverdue reports whether the job has waited longer than its deadline allows. If not, it requests that the job is
// tried again at its deadlines.
func (s *Session) IsOverdue(j *framework.Job) bool {
	for _, deadline := range s.Rules.Deadlines {
		if s.ReachedOrRetryAt(j, deadline(j)) {
			return true
		}
	}
	return false
}

// AttackAt requests that evictions for a job are tried again at the time when the protection of possible victims
// ends.
func (s *Session) AttackAt(j *framework.Job, at time.Time) {
	if j.AttackAt.IsZero() || at.Before(j.AttackAt) {
		j.AttackAt = at
	}
	s.WakeAt(at)
}
