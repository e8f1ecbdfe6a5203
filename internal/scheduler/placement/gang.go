package placement

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Outcome is the result of a round.
type Outcome int

// The outcomes of a round.
const (
	Failed   Outcome = iota // nothing was placed
	Kept                    // tasks were placed and will be bound
	Reserved                // the gang fits once resources are released; they are promised to it
)

// PlaceGang places as many tasks as a job needs to reach its minimum, or one more task if the job has its minimum. It
// places all of these tasks or none. After Failed, the session is unchanged and the job's verdict holds the reason.
func (s *Placer) PlaceGang(j *framework.Job, filter session.Filter, limits Limits) Outcome {
	s.Tried++
	outcome := s.tryToPlaceGang(j, filter, limits)
	if outcome == Failed && j.Verdict.IsError() {
		s.Broken++
	}
	return outcome
}

func (s *Placer) tryToPlaceGang(j *framework.Job, filter session.Filter, limits Limits) Outcome {
	if filter == nil {
		j.Attempts++
	}
	mayReserve := limits == Share && s.IsOverdue(j) // even if it does not fit
	if v, known := s.knownFailure(j); known && filter == nil && !mayReserve {
		j.Unsettled = false
		s.SetVerdict(j, v)
		return Failed
	}
	keepsRoom := filter == nil && limits == Share && s.Constraints.FirstOverdue() == j
	defer s.Constraints.UseHeldResources(j)()
	if filter == nil {
		defer s.usePromised(j)()
		s.withdrawPromises(j)
	}
	mark := s.View.Mark()
	r := round{s: s, job: j, filter: filter, limits: limits, placed: s.roundsOf[:0]}
	r.tryOrders()
	s.roundsOf = r.placed
	if len(r.placed) > 0 && r.hasEnough() {
		if v := s.Rules.MayStart(j); v.Code != "" {
			v.Members = s.Members(j, len(r.placed))
			r.undoPlacements(mark)
			s.dropOldPromises(j)
			s.SetVerdict(j, v)
			return Failed
		}
	}
	switch {
	case r.hasEnough() && len(r.placed) > 0 && r.promises == 0:
		s.commitPlaced(j, r.placed)
		return Kept
	case r.hasEnough() && len(r.placed) > 0 && filter == nil:
		s.commitPromised(j, r.placed)
		return Reserved
	}
	v := r.failureVerdict()
	if keepsRoom && v.Code != reason.TooLarge && s.reserveFree(&r, mark) {
		return Reserved
	}
	r.undoPlacements(mark)
	if filter != nil && len(j.Promised)+len(j.Reserved) > 0 { // the gang is waiting for these resources instead
		return Failed
	}
	v = s.Constraints.ExplainHeld(j, v, limits)
	s.cacheFailure(j, &r, v)
	if filter == nil {
		s.dropOldPromises(j)
	}
	s.SetVerdict(j, v)
	return Failed
}

// usePromised lets a gang use the resources that were promised to it, until the returned function is called.
func (s *Placer) usePromised(j *framework.Job) (stop func()) {
	if len(j.Reserved) == 0 || s.trial.Swap != nil {
		return func() {}
	}
	s.trial.Swap = slices.Clone(j.In.Allocated)
	return func() { s.trial.Swap = nil }
}

// reserveFree reserves the free resources for a gang that does not fit but has exceeded its maximum waiting time. It
// reports whether it reserved any.
func (s *Placer) reserveFree(r *round, mark int) bool {
	j := r.job
	if !s.IsOverdue(j) {
		return false
	}
	j.Unsettled = true // with fewer resources, more pods or other pods of the gang may find a node
	if !r.placePart(mark) {
		return false
	}
	v := r.failureVerdict()
	v.Detail = "no action is needed: the gang has exceeded its maximum waiting time, so free resources are reserved for it"
	s.commitPromised(j, r.placed)
	s.SetVerdict(j, v)
	return true
}

// WouldFit runs a round and undoes it. It reports whether the gang would fit now.
func (s *Placer) WouldFit(j *framework.Job) bool {
	mark := s.View.Mark()
	r := round{s: s, job: j, placed: s.roundsOf[:0]}
	r.tryOrders()
	s.roundsOf = r.placed
	ok := r.hasEnough() && len(r.placed) > 0
	r.undoPlacements(mark)
	return ok
}

// WouldStart reports whether a round would place the gang now, without waiting for resources that are being released.
// It also returns the number of tasks that the round placed. It undoes the round.
func (s *Placer) WouldStart(j *framework.Job, limits Limits) (starts bool, placed int) {
	unsettled, mark := j.Unsettled, s.View.Mark()
	r := round{s: s, job: j, quiet: true, limits: limits}
	r.tryOrders()
	placed = len(r.placed)
	starts = r.hasEnough() && placed > 0 && r.promises == 0
	r.undoPlacements(mark)
	j.Unsettled = unsettled
	return starts, placed
}

// placePart places as many tasks as possible of a gang that does not fit as a whole. It reports whether it has placed
// any.
func (r *round) placePart(mark int) bool {
	if r.extra {
		return false
	}
	if len(r.placed) == 0 { // the last of several attempts was undone
		r.startOver(mark)
		r.placeOnce()
	}
	return len(r.placed) > 0
}
