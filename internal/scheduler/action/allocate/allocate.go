// Package allocate places gangs on nodes. It visits the queues in their configured order, and the gangs of each queue
// in theirs. A gang is first placed with its minimum number of tasks as a whole, and then gets one more task per
// turn.
package allocate

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/evict"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Action implements the allocate action.
type Action struct{}

// Name returns "allocate".
func (Action) Name() string { return "allocate" }

// Run places gangs, turn by turn, until no gang needs more resources or none can get them.
func (Action) Run(s *session.Session) {
	if !s.Enqueues {
		letIn(s)
	}
	promised(s)
	absent := map[*framework.Job]bool{} // gangs without pods yet that block later gangs
	turns := s.Turns(inTurn(s), func(j *framework.Job) bool {
		if j.HasPromisedResources() {
			return false
		}
		atGate := checkGate(s, j)
		if j.Parked || prepare(s, j) {
			return true
		}
		if atGate {
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
		if v := s.Rules.IsOverused(turn.Queue()); v.Code != "" { // 1. A queue that has used up its share gets no more.
			s.Blocked(job, v)
			for _, other := range turn.Rest() {
				s.Blocked(other, v)
			}
			continue
		}
		outcome := session.Failed // 2. A gang without pods to place, or without a change since the last attempt, only waits.
		if resume(s, job) && !absent[job] {
			outcome = s.Round(job, nil, session.Share) // 3. Place the gang as a whole, or not at all.
		}
		if outcome == session.Failed {
			s.Reserve(job) // Reserve resources for the first gang of the queue if its start time is known.
		}
		switch {
		case outcome == session.Kept && len(job.Pending) > 0:
			turns.Back(turn, job) // 4. The gang needs more; it rejoins behind the gangs that now precede it.
		case outcome == session.Failed && s.Blocks(job) && !s.Passable(turn.Queue()):
			s.Behind(turn.Rest(), job) // 5. In a strict queue, later gangs wait for the first one.
		default:
			turns.Back(turn, nil)
		}
	}
	s.AdmitCandidates()
	lend(s)          // 6. Resources that no entitled gang waits for may be lent beyond a queue's share.
	evict.Release(s) // 7. A gang that could be bound only in part releases its pods.
}

// letIn admits gangs to their queues if the enqueue action is not configured. It visits them in the order of queues
// and gangs, so that the first gangs use up the quotas.
func letIn(s *session.Session) {
	outside := slices.DeleteFunc(slices.Clone(s.Ready), (*framework.Job).IsAdmitted)
	s.SortGangs(outside)
	for _, j := range outside {
		s.AdmitAtOnce(j)
	}
}

// inTurn returns the gangs that take part in the turns: the gangs to place, and the gangs that they must wait for.
func inTurn(s *session.Session) []*framework.Job {
	list := s.Strict(true)
	seen := make(map[*framework.Job]bool, len(list))
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

// lend places gangs that would exceed their queue's deserved share, provided that no gang within its queue's share
// waits for nodes. Without lending, two queues whose gangs each need more than half of the cluster would leave it
// idle forever. Other queues can reclaim the borrowed resources.
func lend(s *session.Session) {
	borrowers := s.Borrowers()
	if len(borrowers) == 0 {
		return
	}
	turns := s.Turns(borrowers, func(*framework.Job) bool { return true })
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

// promised places the gangs that have promised resources first. Their queue already counts these resources as used.
func promised(s *session.Session) {
	turns := s.Turns(s.Ready, func(j *framework.Job) bool { return len(j.Reserved) > 0 })
	for {
		turn, job, ok := turns.Next()
		if !ok {
			return
		}
		held := slices.Clone(job.Reserved)
		if prepare(s, job) {
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

// resume takes up a gang in its turn. It passes pods through the queue's gate if some wait there, and reports whether the
// gang then has pods to place and something changed since the last attempt.
func resume(s *session.Session, j *framework.Job) (hasPods bool) {
	resumed := s.Resume(j)
	onlyAtGate := !j.Parked && checkGate(s, j) && pass(s, j)
	if resumed && !prepare(s, j) {
		return false
	}
	return !onlyAtGate && !j.Parked
}

// checkGate admits the gang if the enqueue action is not configured. It reports whether the queue still holds back pods of
// the gang by a scheduling gate.
func checkGate(s *session.Session, j *framework.Job) bool {
	if !s.Enqueues {
		s.AdmitAtOnce(j)
	}
	return j.IsAdmitted() && len(j.AtGate) > 0 && s.Gate(j)
}

// pass removes the scheduling gates from as many pods as the queue has room for. It reports whether the gang then has
// no other pods to place.
func pass(s *session.Session, j *framework.Job) (nothing bool) {
	v := s.Pass(j)
	if prepare(s, j) {
		return false
	}
	lacksPods := s.Rules.Valid(j).Code == reason.NotEnoughPods // more room in the queue would not help
	if v.Code != "" && !lacksPods {
		s.Verdict(j, v)
	}
	return true
}

// prepare admits the gang if the enqueue action is not configured, and records the reason if it cannot be tried. It
// reports whether the gang has pods to try.
func prepare(s *session.Session, j *framework.Job) (hasPods bool) {
	if !s.Enqueues {
		s.AdmitAtOnce(j)
	}
	isDone := len(j.Pending) == 0 && j.Satisfied()
	if !j.IsAdmitted() || isDone || !s.Gate(j) {
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
