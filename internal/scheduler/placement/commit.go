package placement

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// withdrawPromises withdraws, for the duration of a round, the resources that were promised to the job.
func (s *Placer) withdrawPromises(j *framework.Job) {
	for _, t := range j.Reserved {
		s.View.WithdrawPromise(t.Node, t)
		s.NotifyPlaced(j, t, t.Node, -1)
		j.In.AddAllocated(t.Shape.Request, -1)
	}
}

// commitPlaced commits a round. The placed tasks will be bound.
func (s *Placer) commitPlaced(j *framework.Job, placed []framework.Placed) {
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
func (s *Placer) commitPromised(j *framework.Job, placed []framework.Placed) {
	if len(j.Placed)+len(j.Promised) == 0 {
		s.Bound = append(s.Bound, j)
	}
	j.Promised = append(j.Promised, placed...)
	s.Kept = append(s.Kept, j)
	j.DropPending(placed)
	s.dropOldPromises(j)
	v := explain.Verdict{Code: reason.WaitingForVictims, Members: s.Members(j, len(placed))}
	s.SetVerdict(j, v)
}

// dropOldPromises cancels the job's old promises, because the tasks were placed again or can no longer be placed
// there.
func (s *Placer) dropOldPromises(j *framework.Job) {
	if len(j.Reserved) > 0 {
		s.Touch(j)
		s.MarkEased(j.In)
	}
	j.Released = append(j.Released, j.Reserved...)
	j.Reserved = j.Reserved[:0]
}

// MarkEased records that a queue and its ancestors hold less than when their gangs were tried. The gangs are then
// tried again.
func (s *Placer) MarkEased(q *queue.Queue) {
	if s.Eased == nil {
		s.Eased = map[*queue.Queue]bool{}
	}
	for ; q != nil; q = q.Parent {
		s.Eased[q] = true
	}
}

// CancelPromises cancels the job's promised resources without placing anything.
func (s *Placer) CancelPromises(j *framework.Job) {
	s.withdrawPromises(j)
	s.dropOldPromises(j)
}
