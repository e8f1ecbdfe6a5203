package session

import (
	"time"

	"github.com/vc-batch/vc/api/reason"
)

// Reached says whether a time has come; if not yet, the job is tried again then.
// The zero time never comes.
func (s *Session) Reached(j *Job, at time.Time) bool {
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

// Overdue says whether the job has waited longer than it may have to.
func (s *Session) Overdue(j *Job) bool {
	for _, deadline := range s.Rules.Deadlines {
		if s.Reached(j, deadline(j)) {
			return true
		}
	}
	return false
}

// WholeClusterBound says whether what happens anywhere in the cluster, or in its
// namespace, could help the job.
func (j *Job) WholeClusterBound() bool {
	return j.Verdict.Code == reason.Overcommitted || j.Verdict.Code == reason.OverQuota
}
