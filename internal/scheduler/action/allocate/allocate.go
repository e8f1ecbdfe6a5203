// Package allocate places gangs on nodes. Queues take turns in their order, and gangs in each queue in theirs. A
// gang first gets its minimum at once, then one task per turn.
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

// Name returns allocate.
func (Action) Name() string { return "allocate" }

// Run gives turns to gangs until no gang wants or gets more.
func (Action) Run(s *session.Session) {
	if !s.Enqueues {
		letIn(s)
	}
	promised(s)
	absent := map[*session.Job]bool{} // gangs without pods yet for which other gangs must wait
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
		outcome := session.Failed // unchanged since the last attempt
		resumed, atGate := s.Resume(job), false
		if !job.Parked && gated(s, job) {
			atGate = pass(s, job)
		}
		if resumed && !wants(s, job) || absent[job] || atGate {
			// 2. It has no pods to place.
		} else if !job.Parked {
			outcome = s.Round(job, nil, session.Share) // 3. The gang is placed as a whole, or not at all.
		}
		if outcome == session.Failed {
			s.Reserve(job) // Reserve resources for the first gang of a queue if its start time is known.
		}
		switch {
		case outcome == session.Kept && len(job.Pending) > 0:
			turns.Back(turn, job) // 4. It wants more, after the gangs that precede it now.
		case outcome == session.Failed && s.Blocks(job) && !s.Passable(turn.Queue()):
			s.Behind(turn.Rest(), job) // 5. A strict queue waits for its first gang.
		default:
			turns.Back(turn, nil)
		}
	}
	s.AdmitCandidates()
	lend(s)          // 6. Resources that no entitled gang waits for may be used beyond a queue's share.
	evict.Release(s) // 7. A gang that could be bound only in part releases its pods.
}

// letIn admits gangs if no action enqueue does so, in the order of queues and gangs, so that quotas are given to
// the first ones.
func letIn(s *session.Session) {
	outside := slices.DeleteFunc(slices.Clone(s.Ready), (*session.Job).LetIn)
	s.SortGangs(outside)
	for _, j := range outside {
		s.LetIn(j)
	}
}

// inTurn returns the gangs that take turns: those to try, and others that they must wait for.
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

// lend starts gangs that need more than their queue deserves if no gang within its queue's share waits for nodes.
// Without it, two queues that each have a gang larger than half of the cluster would leave it idle for ever. Other
// queues can reclaim the borrowed resources.
func lend(s *session.Session) {
	borrowers := s.Borrowers()
	if len(borrowers) == 0 {
		return
	}
	turns := s.Turns(borrowers, func(*session.Job) bool { return true })
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

// promised first tries the gangs with promised resources. Their queue already counts these resources as held.
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

// gated reports whether pods of a gang wait at the queue's gate.
func gated(s *session.Session, j *session.Job) bool {
	if !s.Enqueues {
		s.LetIn(j)
	}
	return j.LetIn() && len(j.AtGate) > 0 && s.Gate(j)
}

// pass opens the queue's gate for the pods that the queue has room for. It reports whether the gang has no other
// pods to place.
func pass(s *session.Session, j *session.Job) (nothing bool) {
	v := s.Pass(j)
	if wants(s, j) {
		return false
	}
	lacksPods := s.Rules.Valid(j).Code == reason.NotEnoughPods // room in the queue would not help
	if v.Code != "" && !lacksPods {
		s.Verdict(j, v)
	}
	return true
}

// wants reports whether a gang may be tried.
func wants(s *session.Session, j *session.Job) bool {
	if !s.Enqueues {
		s.LetIn(j)
	}
	if !j.LetIn() || len(j.Pending) == 0 && j.Satisfied() || !s.Gate(j) {
		return false
	}
	if v := s.Rules.Valid(j); v.Code != "" {
		if v.Code == reason.SchedulingGated && j.Opening() { // until the API confirms the removal of the gate
			v = explain.Verdict{}
		}
		s.Verdict(j, v)
		return false
	}
	return len(j.Pending) > 0
}
