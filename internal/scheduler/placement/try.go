package placement

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// Trial holds the conditions of a try at placing a gang while others are counted out.
type Trial struct {
	// Swap is the queue's allocation before others were counted out. The queue may hold that much again even if its
	// share or capability has decreased. If nil, the limits apply.
	Swap []float64
	// Grow allows a gang that has its minimum to wait for resources too.
	Grow bool
	// First must be among the placed tasks; nil for any task.
	First *model.Task
}

// FitsInTrial reports whether a gang would be placed now. It undoes the placement.
func (s *Placer) FitsInTrial(j *framework.Job, trial Trial) bool {
	s.trial = trial
	ok := s.WouldFit(j) && s.wasPlaced(trial.First)
	s.trial = Trial{}
	return ok
}

// wasPlaced reports whether the last try placed a task; a nil task counts as placed.
func (s *Placer) wasPlaced(t *model.Task) bool {
	for i := range s.roundsOf {
		if s.roundsOf[i].Task == t {
			return true
		}
	}
	return t == nil
}

// PlaceAfterEvictions is PlaceGang after evictions: it promises the resources found by FitsInTrial.
func (s *Placer) PlaceAfterEvictions(j *framework.Job, trial Trial) Outcome {
	s.trial = trial
	defer func() { s.trial = Trial{} }()
	s.ForgetFailures()
	return s.PlaceGang(j, nil, Share)
}

// heldForLimit returns what a queue holds with respect to a limit. Lingering pods count against a capability, but not
// against a share.
func (s *Placer) heldForLimit(v *explain.Verdict, q *queue.Queue) []float64 {
	if v.Code != reason.OverCapability || v.Limit == nil || v.Limit.Ending == 0 {
		return q.Allocated
	}
	held := slices.Clone(q.Allocated)
	for i, lingers := range q.Lingering {
		held[i] += lingers
	}
	return held
}

// mayHoldAgain reports whether a queue may hold the requested amount because it held it before.
func (s *Placer) mayHoldAgain(v *explain.Verdict, held []float64, asked model.Request) bool {
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

// TryMinimum places a gang's minimum if it fits now, also while the session is in a forecast. It uses preferred
// resources before all others; nil for none. tried is the number of tasks for which a node was found. If ok is false,
// nothing changed.
func (s *Placer) TryMinimum(j *framework.Job, limits Limits, preferred Preference) (placed []framework.Placed, tried int, ok bool) {
	mark := s.View.Mark()
	r := round{s: s, job: j, limits: limits, quiet: true, preferred: preferred}
	unsettled := j.Unsettled // results of a forecast do not apply to the current state
	s.StartTry()
	r.tryOrders()
	j.Unsettled = unsettled
	tried = len(r.placed)
	if !r.hasEnough() || len(r.placed) == 0 {
		r.undoPlacements(mark)
		return nil, tried, false
	}
	return r.placed, tried, true
}

// UndoPlacements undoes the placements of TryMinimum. mark is the mark of the overlay before it.
func (s *Placer) UndoPlacements(j *framework.Job, placed []framework.Placed, mark int) {
	(&round{s: s, job: j, placed: placed}).undoPlacements(mark)
}
