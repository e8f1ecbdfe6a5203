package remedy

import (
	"slices"
	"strconv"
	"time"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/reservation"
)

const (
	// highestPriority is the greatest value that a user's PriorityClass may have.
	highestPriority = 1_000_000_000
	// readAfter is how long a hint that depends on the time must stay correct, so that the user has time to read it.
	readAfter = time.Minute
)

// tryHigherPriority finds the lowest priority with which the gang would come before all other gangs of its queue and
// would start.
func (f *finder) tryHigherPriority() {
	s, j := f.s, f.j
	from, to := j.Priority, j.Priority
	for _, o := range s.AllWaiting {
		if f.isRival(o) && s.Rules.CompareJobs(o, j) < 0 {
			to = max(to, o.Priority)
		}
	}
	if to >= highestPriority {
		return
	}
	to++
	j.Priority = to
	ok := false
	if f.isFirstToUse(j.In) && f.mayPassReservations() {
		undo := s.TakeFirstTurn(j)
		ok = f.wouldStart()
		undo()
	}
	j.Priority = from
	if ok {
		f.addAdmissionHint(schedulingv1beta1.HelpHigherPriority, "", strconv.Itoa(int(from)), strconv.Itoa(int(to)))
	}
}

// mayPassReservations reports whether the gang comes before all gangs whose reservations restrict it.
func (f *finder) mayPassReservations() bool {
	s, j := f.s, f.j
	return !slices.ContainsFunc(s.Reservations, func(r *reservation.Reservation) bool {
		return s.RestrictsAny(r, j) && (r.Job.In != j.In || s.Rules.CompareJobs(j, r.Job) > 0)
	})
}

// tryShorterRun tries a run time that is short enough for the gang to end before reserved resources are needed.
func (f *finder) tryShorterRun() {
	s, j := f.s, f.j
	if f.v.Code != reason.Reserved || !f.hasPodsToTry() {
		return
	}
	var until time.Time
	for _, r := range s.Reservations {
		if s.RestrictsAny(r, j) && (until.IsZero() || r.At.Before(until)) {
			until = r.At
		}
	}
	length := roundRunTime(until.Sub(s.Now) - readAfter)
	if length <= 0 {
		return
	}
	subject, from := schedulingv1beta1.RunTimeEstimate, ""
	pending := j.Pending
	clones := make([]*model.Task, len(pending))
	for i, t := range pending {
		clone := *t
		clone.Expected = model.RunTime{Estimate: length}
		if t.Expected.Limit > 0 {
			subject, clone.Expected = schedulingv1beta1.RunTimeLimit, model.RunTime{Limit: length}
		}
		if now, known := t.RunTime().AssumedLength(); known && from == "" {
			from = explain.FormatRunTime(subject, now)
		}
		clones[i] = &clone
	}
	if f.startsWithTasks(clones) {
		f.addHint(schedulingv1beta1.HelpShorterRun, subject, from, explain.FormatRunTime(subject, length))
	}
}

// roundRunTime rounds a duration down to a value that a user would write, such as a multiple of ten minutes. It
// returns 0 if the duration is too short.
func roundRunTime(d time.Duration) time.Duration {
	for _, step := range []time.Duration{time.Hour, 10 * time.Minute, time.Minute} {
		if d >= 10*step || step == time.Minute {
			return d.Truncate(step)
		}
	}
	return 0
}

// isBlockedInLine reports whether another gang comes before this gang in its strict queue and blocks the gangs behind
// it.
func (f *finder) isBlockedInLine() bool {
	q := f.j.In
	if !q.Fifo {
		return false
	}
	first, known := f.ahead[q]
	if !known {
		first = f.s.FirstOfLine(q, f.j)
		if f.ahead == nil {
			f.ahead = map[*queue.Queue]*framework.Job{}
		}
		f.ahead[q] = first
	}
	return first != nil && f.s.Rules.CompareJobs(first, f.j) < 0
}
