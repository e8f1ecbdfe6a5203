package session

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// withdrawPromises takes back, during a round, the resources promised to the job.
func (s *Session) withdrawPromises(j *framework.Job) {
	for _, t := range j.Reserved {
		s.View.WithdrawPromise(t.Node, t)
		s.notifyPlaced(j, t, t.Node, -1)
		j.In.AddAllocated(t.Shape.Request, -1)
	}
}

// commitPlaced commits a round: the tasks will be bound.
func (s *Session) commitPlaced(j *framework.Job, placed []framework.Placed) {
	if len(j.Placed)+len(j.Promised) == 0 {
		s.Bound = append(s.Bound, j)
	}
	j.Placed = append(j.Placed, placed...)
	s.Kept = append(s.Kept, j)
	s.Won++
	j.CountPlacedInGroups(placed)
	j.DropPending(placed)
	s.dropOldPromises(j)
	j.Verdict = explain.Verdict{}
	s.Touch(j)
}

// commitPromised commits a round whose tasks must wait for resources that are being released.
func (s *Session) commitPromised(j *framework.Job, placed []framework.Placed) {
	if len(j.Placed)+len(j.Promised) == 0 {
		s.Bound = append(s.Bound, j)
	}
	j.Promised = append(j.Promised, placed...)
	s.Kept = append(s.Kept, j)
	j.DropPending(placed)
	s.dropOldPromises(j)
	v := explain.Verdict{Code: reason.WaitingForVictims, Members: s.countMembers(j, len(placed))}
	s.SetVerdict(j, v)
}

// dropOldPromises cancels the job's old promises: the tasks were placed again, or cannot be placed there any more.
func (s *Session) dropOldPromises(j *framework.Job) {
	if len(j.Reserved) > 0 {
		s.Touch(j)
		s.markEased(j.In)
	}
	j.Released = append(j.Released, j.Reserved...)
	j.Reserved = j.Reserved[:0]
}

// markEased records that a queue and its ancestors hold less than when their gangs were tried, so that the gangs are
// tried again.
func (s *Session) markEased(q *queue.Queue) {
	if s.Eased == nil {
		s.Eased = map[*queue.Queue]bool{}
	}
	for ; q != nil; q = q.Parent {
		s.Eased[q] = true
	}
}
