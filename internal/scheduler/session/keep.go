package session

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// withdraw takes back, during a round, the resources promised to the job.
func (s *Session) withdraw(j *framework.Job) {
	for _, t := range j.Reserved {
		s.View.Withdraw(t.Node, t)
		s.followPlaced(j, t, t.Node, -1)
		j.In.Hold(t.Shape.Request, -1)
	}
}

// keep commits a round: the tasks will be bound.
func (s *Session) keep(j *framework.Job, placed []framework.Placed) {
	if len(j.Placed)+len(j.Promised) == 0 {
		s.Bound = append(s.Bound, j)
	}
	j.Placed = append(j.Placed, placed...)
	s.Kept = append(s.Kept, j)
	s.Won++
	j.HoldGroups(placed)
	j.DropPending(placed)
	s.giveUp(j)
	j.Verdict = explain.Verdict{}
	s.Touch(j)
}

// reserve commits a round whose tasks must wait for resources that are being released.
func (s *Session) reserve(j *framework.Job, placed []framework.Placed) {
	if len(j.Placed)+len(j.Promised) == 0 {
		s.Bound = append(s.Bound, j)
	}
	j.Promised = append(j.Promised, placed...)
	s.Kept = append(s.Kept, j)
	j.DropPending(placed)
	s.giveUp(j)
	v := explain.Verdict{Code: reason.WaitingForVictims, Members: s.members(j, len(placed))}
	s.Verdict(j, v)
}

// giveUp cancels the job's old promises: the tasks were placed again, or cannot be placed there any more.
func (s *Session) giveUp(j *framework.Job) {
	if len(j.Reserved) > 0 {
		s.Touch(j)
		s.ease(j.In)
	}
	j.Released = append(j.Released, j.Reserved...)
	j.Reserved = j.Reserved[:0]
}

// ease records that a queue and its ancestors hold less than when their gangs were tried, so that the gangs are
// tried again.
func (s *Session) ease(q *queue.Queue) {
	if s.Eased == nil {
		s.Eased = map[*queue.Queue]bool{}
	}
	for ; q != nil; q = q.Parent {
		s.Eased[q] = true
	}
}
