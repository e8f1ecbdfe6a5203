// Package allocate gives nodes to gangs: the queue whose turn it is, in it the
// gang whose turn it is, its minimum at once, then one task a turn.
package allocate

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/evict"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Action is the action allocate.
type Action struct{}

// Name is allocate.
func (Action) Name() string { return "allocate" }

// Run gives turns until nobody wants or gets more.
func (Action) Run(s *session.Session) {
	if !s.Enqueues {
		letIn(s)
	}
	promised(s)
	absent := map[*session.Job]bool{} // have no pods yet, and others wait for them all the same
	turns := s.Turns(inTurn(s), func(j *session.Job) bool {
		if len(j.Reserved)+len(j.Promised) > 0 {
			return false
		}
		if atGate := gated(s, j); j.Parked || wants(s, j) || atGate {
			return true
		}
		absent[j] = s.Arriving(j)
		return absent[j]
	})
	for {
		turn, job, ok := turns.Next()
		if !ok {
			break
		}
		s.TakesTurn(job)
		if v := s.Rules.IsOverused(turn.Queue()); v.Code != "" { // 1. A queue that has its share gets no more.
			s.Blocked(job, v)
			for _, other := range turn.Rest() {
				s.Blocked(other, v)
			}
			continue
		}
		outcome := session.Failed // as before, when nothing changed that could help it
		resumed, atGate := s.Resume(job), false
		if !job.Parked && gated(s, job) {
			atGate = pass(s, job)
		}
		if resumed && !wants(s, job) || absent[job] || atGate {
			// 2. It has no pods to place.
		} else if !job.Parked {
			outcome = s.Round(job, nil, session.Share) // 3. The gang is placed whole, or not at all.
		}
		if outcome == session.Failed {
			s.Reserve(job) // Room is kept for a head whose start is known.
		}
		switch {
		case outcome == session.Kept && len(job.Pending) > 0:
			turns.Back(turn, job) // 4. It wants more: after those whose turn comes before.
		case outcome == session.Failed && s.Blocks(job) && !s.Passable(turn.Queue()):
			s.Behind(turn.Rest(), job) // 5. A strict queue waits for its first.
		default:
			turns.Back(turn, nil)
		}
	}
	s.AdmitCandidates()
	lend(s)          // 6. What nobody with a right to it waits for may be used beyond the share.
	evict.Release(s) // 7. A gang of which only a part could be bound gives that back.
}

// letIn admits gangs where no action does it, in the order of queues and gangs: what a quota leaves goes to the first.
func letIn(s *session.Session) {
	outside := slices.DeleteFunc(slices.Clone(s.Ready), (*session.Job).LetIn)
	slices.SortFunc(outside, func(a, b *session.Job) int {
		if a.In != b.In {
			return s.Rules.CompareQueues(a.In, b.In)
		}
		return s.Rules.CompareJobs(a, b)
	})
	for _, j := range outside {
		s.LetIn(j)
	}
}

// inTurn are the gangs that take turns: those to look at, and others that they
// have to wait for.
func inTurn(s *session.Session) []*session.Job {
	list := s.Strict(true)
	seen := make(map[*session.Job]bool, len(list))
	for _, j := range list {
		seen[j] = true
	}
	for _, j := range s.Heads() {
		if !seen[j] {
			list = append(list, j)
		}
	}
	return append(list, s.Ready...)
}

// lend lets gangs start that are larger than what their queue deserves, when no
// gang within its queue's share waits for nodes. Else two queues, each with a
// gang larger than its half, would leave the cluster idle for ever. The queue
// owes what it borrowed: others reclaim it when they want it.
func lend(s *session.Session) {
	var over, within []*session.Job
	for _, j := range s.AllWaiting {
		if !j.LetIn() || j.Need() == 0 || len(j.Placed)+len(j.Promised)+len(j.Reserved) > 0 || !j.Tryable(s) || j.Verdict.Code == reason.BehindOthers {
			continue
		}
		switch code := s.Rules.MayTake(j.In, j.MinimumRequest()).Code; {
		case code == "":
			within = append(within, j)
		case code == reason.OverDeserved, len(j.Shapes()) > 1: // other pods of it may ask for less
			over = append(over, j)
		}
	}
	if len(over) == 0 || slices.ContainsFunc(within, s.CouldStart) {
		return
	}
	turns := s.Turns(over, func(*session.Job) bool { return true })
	for {
		turn, job, ok := turns.Next()
		if !ok {
			return
		}
		before := job.Verdict
		if s.Round(job, nil, session.Capability) == session.Failed {
			s.Verdict(job, before)
			if s.Blocks(job) {
				turn.Rest()
			}
		}
		turns.Back(turn, nil)
	}
}

// promised tries the gangs first that have room promised: it is theirs, and it
// counts as held by their queue already.
func promised(s *session.Session) {
	turns := s.Turns(s.Ready, func(j *session.Job) bool { return len(j.Reserved) > 0 })
	for {
		turn, job, ok := turns.Next()
		if !ok {
			return
		}
		held := slices.Clone(job.Reserved)
		if wants(s, job) {
			s.Round(job, nil, session.Share)
		} else {
			s.GiveUp(job)
		}
		if !job.Keeps(held) {
			s.WakeForNodes()
		}
		turns.Back(turn, nil)
	}
}

// gated says whether the queue's gate is what pods of a gang wait for.
func gated(s *session.Session, j *session.Job) bool {
	if !s.Enqueues {
		s.LetIn(j)
	}
	return j.LetIn() && len(j.AtGate) > 0 && s.Gate(j)
}

// pass opens the queue's gate for the pods that it has room for, and says whether the gang has none to place besides.
func pass(s *session.Session, j *session.Job) (nothing bool) {
	v := s.Pass(j)
	if wants(s, j) {
		return false
	}
	if v.Code != "" {
		s.Verdict(j, v)
	}
	return true
}

// wants says whether a gang may be tried.
func wants(s *session.Session, j *session.Job) bool {
	if !s.Enqueues {
		s.LetIn(j)
	}
	if !j.LetIn() || len(j.Pending) == 0 && j.Satisfied() || !s.Gate(j) {
		return false
	}
	if v := s.Rules.Valid(j); v.Code != "" {
		if v.Code == reason.SchedulingGated && j.Opening() { // until the API says so, too
			v = explain.Verdict{}
		}
		s.Verdict(j, v)
		return false
	}
	return len(j.Pending) > 0
}
