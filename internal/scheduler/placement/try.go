package placement

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

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

// PlaceAfterEvictions is like PlaceGang after evictions. It promises the resources that FitsInTrial found.
func (s *Placer) PlaceAfterEvictions(j *framework.Job, trial Trial) Outcome {
	s.trial = trial
	defer func() { s.trial = Trial{} }()
	s.ForgetFailures()
	return s.PlaceGang(j, nil, Share)
}

// TryMinimum places a gang's minimum if it fits now. It also works while the session is in a forecast. It uses the
// resources found by preferred before all others; preferred may be nil. tried is the number of tasks for which a node
// was found. If ok is false, nothing has changed.
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

// UndoPlacements undoes the placements made by TryMinimum. mark is the overlay's mark before that call.
func (s *Placer) UndoPlacements(j *framework.Job, placed []framework.Placed, mark int) {
	(&round{s: s, job: j, placed: placed}).undoPlacements(mark)
}
