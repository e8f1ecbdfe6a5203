package session

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// Trial is a try at placing a gang with others counted out.
type Trial struct {
	// Swap is what the queue held before others were counted out: so much it may hold
	// again, although its share or capability has become less. nil: the limits count.
	Swap []float64
	// Grow lets a gang that has its minimum wait for room too.
	Grow bool
	// First must be among the placed; nil: any will do.
	First *model.Task
}

// Fits says whether a gang would be placed now, and undoes it.
func (s *Session) Fits(j *Job, trial Trial) bool {
	s.trial = trial
	ok := s.Try(j) && s.tried(trial.First)
	s.trial = Trial{}
	return ok
}

// tried says whether the last try placed a task; nil: any.
func (s *Session) tried(t *model.Task) bool {
	for i := range s.roundsOf {
		if s.roundsOf[i].Task == t {
			return true
		}
	}
	return t == nil
}

// Settle is Round after evictions: it promises the room that Fits has found.
func (s *Session) Settle(j *Job, trial Trial) Outcome {
	s.trial = trial
	defer func() { s.trial = Trial{} }()
	s.Forget()
	return s.Round(j, nil, Share)
}

// heldFor is what a queue holds where a limit is concerned: what lingers counts against a capability, and is no part of
// a share.
func (s *Session) heldFor(v *explain.Verdict, q *queue.Queue) []float64 {
	if v.Code != reason.OverCapability || v.Limit == nil || v.Limit.Ending == 0 {
		return q.Allocated
	}
	held := slices.Clone(q.Allocated)
	for i, lingers := range q.Lingering {
		held[i] += lingers
	}
	return held
}

// swapped says whether a queue may hold so much because it held it before.
func (s *Session) swapped(v *explain.Verdict, held []float64, asked model.Request) bool {
	if s.trial.Swap == nil || v.Limit == nil || v.Limit.Resource == "" {
		return false
	}
	for _, t := range asked {
		if held[t.Index]+float64(t.Value) > s.trial.Swap[t.Index]+queue.Epsilon {
			return false
		}
	}
	return true
}
