package session

import (
	"cmp"
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

// FirstOverdue is the gang that was to start first of those that have waited longer
// than they may and could start; nil: there is none. Room is kept bit by bit for one at
// a time: two could each keep what the other needs.
func (s *Session) FirstOverdue() *Job {
	if s.overdueKnown || len(s.Rules.Deadlines) == 0 {
		return s.overdue
	}
	s.overdueKnown = true
	var first time.Time
	for _, j := range s.AllWaiting {
		at := s.deadlineOf(j)
		if at.IsZero() || s.Now.Before(at) || !j.LetIn() || j.Need() == 0 || len(j.Pending) == 0 || !j.Tryable(s) || !s.CouldStart(j) {
			continue
		}
		if s.overdue == nil || cmp.Or(at.Compare(first), compareJobs(j, s.overdue)) < 0 {
			s.overdue, first = j, at
		}
	}
	return s.overdue
}

// deadlineOf is the first of the job's deadlines; zero: it has none.
func (s *Session) deadlineOf(j *Job) (first time.Time) {
	for _, deadline := range s.Rules.Deadlines {
		if at := deadline(j); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// WholeClusterBound says whether what happens anywhere in the cluster, or in its
// namespace, could help the job.
func (j *Job) WholeClusterBound() bool {
	return j.Verdict.Code == reason.Overcommitted || j.Verdict.Code == reason.OverQuota
}
