package session

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
)

const (
	// highestPriority is the greatest value that a user's PriorityClass may have.
	highestPriority = 1_000_000_000
	// readAfter is how long a hint about time must stay correct, so that the user has time to read it.
	readAfter = time.Minute
)

// higherPriority finds the lowest priority with which the gang would come before all other gangs of its queue and would
// start.
func (h *helper) higherPriority() {
	s, j := h.s, h.j
	from, to := j.Gang.Priority, j.Gang.Priority
	for _, o := range s.AllWaiting {
		if o != nil && o != j && o.In == j.In && o.Lacks() && s.Rules.CompareJobs(o, j) < 0 {
			to = max(to, o.Priority)
		}
	}
	if to >= highestPriority {
		return
	}
	to++
	turn, had := s.turns[j]
	j.Gang.Priority = to
	ok := h.first(j.In) && h.passes() && h.starts()
	j.Gang.Priority = from
	if had {
		s.turns[j] = turn
	} else {
		delete(s.turns, j)
	}
	if ok {
		h.addGate(schedulingv1beta1.HelpHigherPriority, "", strconv.Itoa(int(from)), strconv.Itoa(int(to)))
	}
}

// passes lets the gang come before all reservations if its order permits that, and reports whether it does.
func (h *helper) passes() bool {
	s, j := h.s, h.j
	for _, r := range s.Reservations {
		if s.binds(r, j) && (r.Job.In != j.In || s.Rules.CompareJobs(j, r.Job) > 0) {
			return false
		}
	}
	if len(s.Reservations) > 0 && s.turns != nil {
		s.turns[j] = 0
	}
	return true
}

// binds reports whether another gang's reservation restricts one of the gang's tasks.
func (s *Session) binds(r *Reservation, j *framework.Job) bool {
	return slices.ContainsFunc(j.Pending, func(t *model.Task) bool { return s.bound(r, j, t) })
}

// shorterRun tries a run time short enough to end before reserved resources are needed.
func (h *helper) shorterRun() {
	s, j := h.s, h.j
	if h.v.Code != reason.Reserved || !h.placeable() {
		return
	}
	var until time.Time
	for _, r := range s.Reservations {
		if s.binds(r, j) && (until.IsZero() || r.At.Before(until)) {
			until = r.At
		}
	}
	length := writable(until.Sub(s.Now) - readAfter)
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
		if now, known := t.RunTime().Length(); known && from == "" {
			from = explain.RunTime(subject, now)
		}
		clones[i] = &clone
	}
	if h.instead(clones) {
		h.add(schedulingv1beta1.HelpShorterRun, subject, from, explain.RunTime(subject, length))
	}
}

// writable rounds a duration down to a round value, such as a user would write. It returns 0 if the duration is too
// short.
func writable(d time.Duration) time.Duration {
	for _, step := range []time.Duration{time.Hour, 10 * time.Minute, time.Minute} {
		if d >= 10*step || step == time.Minute {
			return d.Truncate(step)
		}
	}
	return 0
}

// blockedInLine reports whether another gang comes before this gang in its strict queue and blocks the gangs behind it.
func (h *helper) blockedInLine() bool {
	q := h.j.In
	if !q.Fifo {
		return false
	}
	first, known := h.ahead[q]
	if !known {
		first = h.s.firstOfLine(q, h.j)
		if h.ahead == nil {
			h.ahead = map[*queue.Queue]*framework.Job{}
		}
		h.ahead[q] = first
	}
	return first != nil && h.s.Rules.CompareJobs(first, h.j) < 0
}
