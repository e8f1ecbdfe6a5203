package cycle

import (
	"time"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// arrival is how long an admitted gang may wait for missing pods and still count as able to start. Later, its pods
// are assumed not to come.
const arrival = time.Minute

// CouldStart reports whether a gang waits only for resources: it would start if all pods that run for other gangs
// ended. Such a gang keeps its promised resources, and gangs after it wait. Any other gang (its pods are too large,
// fit no node, carry scheduling gates, attach a missing volume, or are not created) does not block others, whatever
// the cause. This is decided again in each cycle.
func (s *Cycle) CouldStart(j *framework.Job) bool {
	if could, known := s.could[j]; known {
		return could
	}
	could, decided := s.couldStartByLimits(j)
	if !decided {
		s.tryAlone(j)
		return s.could[j]
	}
	s.cacheCouldStart(j, could)
	return could
}

// judgeCouldStart computes CouldStart for many gangs at once, in s.could.
func (s *Cycle) judgeCouldStart(jobs []*framework.Job) {
	var undecided []*framework.Job
	for _, j := range jobs {
		if _, known := s.could[j]; known {
			continue
		}
		if could, decided := s.couldStartByLimits(j); decided {
			s.cacheCouldStart(j, could)
		} else {
			undecided = append(undecided, j)
		}
	}
	s.tryAlone(undecided...)
}

// CouldNeverStart reports whether a gang could not start even on an empty cluster, as far as this is known without
// placing it.
func (s *Cycle) CouldNeverStart(j *framework.Job) bool {
	if could, known := s.could[j]; known {
		return !could
	}
	could, decided := s.couldStartByLimits(j)
	return decided && !could
}

// couldStartByLimits is CouldStart as far as it is known without placing the gang.
func (s *Cycle) couldStartByLimits(j *framework.Job) (could, decided bool) {
	if !j.In.AcceptsGangs() {
		return false, true
	}
	switch s.Rules.CheckValid(j).Code {
	case "":
	case reason.NotEnoughPods:
		return s.mayStillArrive(j) && s.templatesFit(j) && !s.exceedsEmptyNodes(j), true
	case reason.SchedulingGated:
		if !j.IsGatedByQueueAlone() {
			return false, true
		}
	default:
		return false, true
	}
	if j.Need() == 0 || len(j.Pending)+len(j.AtGate) == 0 || len(s.View.Order) == 0 {
		return true, true
	}
	if _, never := s.NeverStarts(j); never {
		return false, true
	}
	allowed, sure := s.allowedAlone(j)
	if sure && !allowed {
		return false, true
	}
	if could, decided = s.couldFitAlone(j); decided && (sure || !could) {
		return could, true
	}
	return true, len(j.AtGate) > 0 // the queue's gate does not depend on nodes
}

// mayStillArrive reports whether pods that a gang lacks may still be created.
func (s *Cycle) mayStillArrive(j *framework.Job) bool {
	told := j.Status.Explanation
	if told == nil || told.Reason != string(reason.NotEnoughPods) || told.Since == nil {
		return true
	}
	at := told.Since.Add(arrival)
	if s.Now.Before(at) {
		s.WakeAt(at)
		return true
	}
	return false
}

// allowedAlone reports whether the limits of its queue would permit the gang's minimum if no other gang held
// anything. A share is no such limit, because unused resources are lent. sure is false if other pods of the gang
// than the first ones may be permitted.
func (s *Cycle) allowedAlone(j *framework.Job) (allowed, sure bool) {
	asked := j.MinimumRequest()
	if len(asked) == 0 {
		return true, true
	}
	defer s.vacateQueues(j)()
	switch s.Rules.MayAllocate(j.In, asked).Code {
	case "", reason.OverDeserved:
		return true, true
	case reason.OverCapability, reason.GangDoesNotFit:
		return false, len(j.PendingShapes()) == 1
	}
	return false, true
}

// vacateQueues makes the gang's queue and its ancestors hold only what the gang itself holds, until the returned
// function is called.
func (s *Cycle) vacateQueues(j *framework.Job) (undo func()) {
	var undos []func()
	for q := j.In; q != nil; q = q.Parent {
		undos = append(undos, q.SimulateEmpty())
	}
	s.holdOwnPods(j, 1)
	return func() {
		for _, undo := range undos {
			undo()
		}
	}
}
