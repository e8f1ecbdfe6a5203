package cycle

import (
	"cmp"
	"time"

	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// FirstOverdue returns the gang with the earliest deadline among the gangs that are past their deadlines and could
// start; nil if there is no such gang. Resources are reserved bit by bit for only one gang at a time, because two
// gangs could each hold what the other needs.
func (s *Cycle) FirstOverdue() *framework.Job {
	if s.overdueKnown || len(s.Rules.Deadlines) == 0 {
		return s.overdue
	}
	s.overdueKnown = true
	var first time.Time
	for _, j := range s.AllWaiting {
		at := s.deadlineOf(j)
		isOverdue := !at.IsZero() && !s.Now.Before(at)
		if !isOverdue || !needsNodes(j) {
			continue
		}
		if !s.IsTryable(j) || !s.CouldStart(j) {
			continue
		}
		if s.overdue == nil || cmp.Or(at.Compare(first), framework.CompareByAge(j, s.overdue)) < 0 {
			s.overdue, first = j, at
		}
	}
	return s.overdue
}

// needsNodes reports whether an admitted gang is below its minimum and has pods to place.
func needsNodes(j *framework.Job) bool {
	return j.IsAdmitted() && j.Need() > 0 && len(j.Pending) > 0
}

// deadlineOf returns the earliest deadline of the job; zero if it has no deadline.
func (s *Cycle) deadlineOf(j *framework.Job) (first time.Time) {
	for _, deadline := range s.Rules.Deadlines {
		if at := deadline(j); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}
