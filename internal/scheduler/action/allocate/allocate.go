// Package allocate places gangs on nodes. It visits the queues in their configured order, and the gangs of each queue
// in the order of that queue. A gang first gets its minimum number of tasks as a whole, and then one more task per
// turn.
package allocate

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/evict"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/placement"
)

// Action implements the allocate action.
type Action struct{}

// Name returns "allocate".
func (Action) Name() string { return "allocate" }

// Run places gangs, turn by turn, until no gang needs more resources or none can get them.
func (Action) Run(s *cycle.Cycle) {
	if !s.Enqueues {
		admitWithoutEnqueue(s)
	}
	placePromised(s)
	absent := map[*framework.Job]bool{} // gangs that block later gangs although their pods do not exist yet
	turns := s.NewTurns(gangsInTurn(s), func(j *framework.Job) bool { return takesTurn(s, j, absent) })
	for {
		turn, job, ok := turns.Next()
		if !ok {
			break
		}
		s.RecordTurn(job)
		if v := s.Rules.CheckOverused(turn.Queue()); v.Code != "" { // 1. A queue that has used up its share gets no more.
			s.RecordBlocked(job, v)
			for _, other := range turn.TakeRest() {
				s.RecordBlocked(other, v)
			}
			continue
		}
		outcome := placement.Failed // 2. A gang without pods to place, or without a change since the last attempt, keeps waiting.
		if resumeGang(s, job) && !absent[job] {
			outcome = s.PlaceGang(job, nil, placement.Share) // 3. Place the gang as a whole, or not at all.
		}
		if outcome == placement.Failed {
			s.MakeReservation(job) // Reserve resources for the first gang of the queue if its start time is known.
		}
		switch {
		case outcome == placement.Kept && len(job.Pending) > 0:
			turns.ReturnTurn(turn, job) // 4. The gang needs more; it rejoins behind the gangs that now precede it.
		case outcome == placement.Failed && s.BlocksOthers(job) && !s.MayPassHead(turn.Queue()):
			s.RecordBehind(turn.TakeRest(), job) // 5. In a strict queue, later gangs wait for the first one.
		default:
			turns.ReturnTurn(turn, nil)
		}
	}
	s.AdmitCandidates()
	lendResources(s)           // 6. Resources that no entitled gang is waiting for may be lent beyond a queue's share.
	evict.ReleaseIncomplete(s) // 7. A gang that could be bound only in part releases its pods.
}

// takesTurn reports whether a gang takes part in the turns. If it does so only because it blocks later gangs until its
// pods are created, takesTurn adds it to absent.
func takesTurn(s *cycle.Cycle, j *framework.Job, absent map[*framework.Job]bool) bool {
	if j.HasPromisedResources() {
		return false
	}
	atGate := checkGate(s, j)
	if j.Parked || prepareGang(s, j) {
		return true
	}
	if atGate {
		return true
	}
	absent[j] = s.BlocksUntilCreated(j)
	return absent[j]
}

// admitWithoutEnqueue admits gangs to their queues if the enqueue action is not configured. It visits them in the order
// of queues and gangs, so that the first gangs use up the quotas.
func admitWithoutEnqueue(s *cycle.Cycle) {
	outside := slices.DeleteFunc(slices.Clone(s.Ready), (*framework.Job).IsAdmitted)
	s.SortGangs(outside)
	for _, j := range outside {
		s.AdmitAtOnce(j)
	}
}

// gangsInTurn returns the gangs that take part in the turns: the gangs to place, and the gangs that they must wait for.
func gangsInTurn(s *cycle.Cycle) []*framework.Job {
	list := s.StrictGangs(true)
	seen := make(map[*framework.Job]bool, len(list))
	for _, j := range list {
		seen[j] = true
	}
	for _, j := range s.UntriedHeads() {
		if !seen[j] {
			list = append(list, j)
		}
	}
	return append(list, s.Ready...)
}

// lendResources places gangs that would exceed their queue's deserved share, provided that no gang within its queue's
// share is waiting for nodes. Without lending, two queues whose gangs each need more than half of the cluster would
// leave it idle forever. Other queues can reclaim the borrowed resources.
func lendResources(s *cycle.Cycle) {
	borrowers := s.FindBorrowers()
	if len(borrowers) == 0 {
		return
	}
	turns := s.NewTurns(borrowers, func(*framework.Job) bool { return true })
	for {
		turn, job, ok := turns.Next()
		if !ok {
			return
		}
		before := job.Verdict
		if s.PlaceGang(job, nil, placement.Capability) == placement.Failed {
			s.SetVerdict(job, before)
			if s.BlocksOthers(job) {
				turn.TakeRest()
			}
		}
		turns.ReturnTurn(turn, nil)
	}
}

// placePromised places the gangs that have promised resources before any other gang. Their queues already count these
// resources as used.
func placePromised(s *cycle.Cycle) {
	turns := s.NewTurns(s.Ready, func(j *framework.Job) bool { return len(j.Reserved) > 0 })
	for {
		turn, job, ok := turns.Next()
		if !ok {
			return
		}
		held := slices.Clone(job.Reserved)
		if prepareGang(s, job) {
			s.PlaceGang(job, nil, placement.Share)
		} else {
			s.CancelPromises(job)
		}
		if !job.KeepsPromises(held) {
			s.WakeForNodes()
		}
		turns.ReturnTurn(turn, nil)
	}
}

// resumeGang prepares a gang for its turn. If pods of the gang are waiting at the queue's gate, it lets as many of them
// pass as the queue has free capacity for. It reports whether the gang then has pods to place and something has changed
// since the last attempt.
func resumeGang(s *cycle.Cycle, j *framework.Job) (hasPods bool) {
	resumed := s.ResumeGang(j)
	onlyAtGate := !j.Parked && checkGate(s, j) && passQueueGate(s, j)
	if resumed && !prepareGang(s, j) {
		return false
	}
	return !onlyAtGate && !j.Parked
}

// checkGate admits the gang if the enqueue action is not configured. It reports whether the queue still holds back pods
// of the gang with a scheduling gate.
func checkGate(s *cycle.Cycle, j *framework.Job) bool {
	if !s.Enqueues {
		s.AdmitAtOnce(j)
	}
	return j.IsAdmitted() && len(j.AtGate) > 0 && s.CheckQueueOpen(j)
}

// passQueueGate removes the scheduling gates from as many pods as the queue has free capacity for. It reports whether
// the gang then has no other pods to place.
func passQueueGate(s *cycle.Cycle, j *framework.Job) (nothing bool) {
	v := s.PassQueueGate(j)
	if prepareGang(s, j) {
		return false
	}
	lacksPods := s.Rules.CheckValid(j).Code == reason.NotEnoughPods // more free capacity in the queue would not help
	if v.Code != "" && !lacksPods {
		s.SetVerdict(j, v)
	}
	return true
}

// prepareGang admits the gang if the enqueue action is not configured, and records the reason if the gang cannot be
// tried. It reports whether the gang has pods to try.
func prepareGang(s *cycle.Cycle, j *framework.Job) (hasPods bool) {
	if !s.Enqueues {
		s.AdmitAtOnce(j)
	}
	isDone := len(j.Pending) == 0 && j.IsSatisfied()
	if !j.IsAdmitted() || isDone || !s.CheckQueueOpen(j) {
		return false
	}
	if v := s.Rules.CheckValid(j); v.Code != "" {
		if v.Code == reason.SchedulingGated && j.IsGateOpening() { // the API has not confirmed yet that the gate was removed
			v = explain.Verdict{}
		}
		s.SetVerdict(j, v)
		return false
	}
	return len(j.Pending) > 0
}
