package placement

import (
	"time"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// knownFailure returns the cached verdict if an equivalent gang has already failed in this cycle.
func (s *Placer) knownFailure(j *framework.Job) (explain.Verdict, bool) {
	if !s.sharesFailures(j) {
		return explain.Verdict{}, false
	}
	f, isCached := s.failures[j.Pending[0].Shape]
	if !isCached || !s.failsLike(j, &f) {
		return explain.Verdict{}, false
	}
	if s.isBlockedByQueue(j) { // the queue may be the reason rather than the nodes
		return explain.Verdict{}, false
	}
	v := f.verdict
	v.Members = s.Members(j, v.Members.Fit-v.Members.Held)
	v = s.Constraints.ExplainReserved(j, v)
	if !s.hasMinimum(j) {
		s.ExplainExceeded(j, &v)
	}
	return v, true
}

// sharesFailures reports whether the placement of a gang depends only on the shape of its pods, their number and the
// reservations. Such a gang fails if an equivalent gang has failed.
func (s *Placer) sharesFailures(j *framework.Job) bool {
	switch {
	case j.IsStructured(), len(j.MinTaskMember) > 0: // counting its pods is not enough
		return false
	case s.Scope != nil: // only a part of the cluster is searched
		return false
	case len(j.Reserved) > 0: // it may use resources that others may not
		return false
	}
	return j.HasOneShape() && !s.HasPolicyRestriction(j, j.Pending[0])
}

// failsLike compares a gang with a gang of the same shape whose failure is cached. It reports whether the gang needs
// at least as much as the failed gang and may use no more resources.
func (s *Placer) failsLike(j *framework.Job, f *cachedFailure) bool {
	switch {
	case s.DependsOnPods(j.Pending[0]): // where its pods may run depends on other pods
		return false
	case f.extra && !s.hasMinimum(j): // the gang also waits for resources that are being released
		return false
	case max(j.Need(), 1) < f.need:
		return false
	}
	isFreeOfMore := s.Constraints.FreeReservations(j, true)&^f.free != 0 // fewer reservations restrict the gang
	return !isFreeOfMore
}

// isBlockedByQueue reports whether a limit of its queue, other than the size of the cluster, permits no more pods of
// a gang, or not the minimum of a gang that is below it.
func (s *Placer) isBlockedByQueue(j *framework.Job) bool {
	requested := j.Pending[0].Shape.Request
	if !s.hasMinimum(j) {
		requested = j.MinimumRequest()
	}
	v := s.Constraints.MayAllocate(j, requested)
	isClusterLimit := v.Limit != nil && v.Limit.Cluster
	return v.Code != "" && !isClusterLimit
}

// cacheFailure stores the verdict of a round for equivalent gangs. It does not store a failure that depends on more
// than the nodes, for example on the gang's queue.
func (s *Placer) cacheFailure(j *framework.Job, r *round, v explain.Verdict) {
	failedAtNodes := r.queueVerdict.Code == "" && r.filter == nil && len(r.failed) == 1
	if !failedAtNodes || !s.sharesFailures(j) {
		return
	}
	if v.Full { // the reservation does not concern other gangs
		v.Code, v.Full, v.Until, v.Blocker = reason.GangDoesNotFit, false, time.Time{}, nil
	}
	switch v.Code {
	case reason.OverCapability, reason.GangDoesNotFit: // the limit is for this gang's queue and minimum
		v.Code, v.Limit, v.More = reason.GangDoesNotFit, nil, nil
	}
	need := max(j.Need(), 1)
	f, isCached := s.failures[r.failed[0]]
	excludesMore := need < f.need || (f.extra && !r.extra)
	if !isCached || excludesMore {
		s.failures[r.failed[0]] = cachedFailure{need: need, verdict: v, free: s.Constraints.FreeReservations(j, false), extra: r.extra}
	}
}

// hasMinimum reports whether a job has its minimum. Unlike a job below its minimum, such a job does not wait for
// resources that are being released.
func (s *Placer) hasMinimum(j *framework.Job) bool { return !s.Rules.Gang || j.Need() == 0 }

// ForgetFailures drops the cached failures. It is called when resources were freed.
func (s *Placer) ForgetFailures() { clear(s.failures) }
