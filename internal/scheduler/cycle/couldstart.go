package cycle

import (
	"time"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// arrival is how long an admitted gang may wait for missing pods and still count as able to start. After that, its
// pods are assumed not to be created.
const arrival = time.Minute

// CouldStart reports whether a gang is waiting only for resources, which means that it would start if all pods that
// run for other gangs ended. Such a gang keeps its promised resources, and gangs after it wait. A gang that could not
// start does not block others. Examples are gangs whose pods are too large, fit no node, have scheduling gates, use a
// missing volume or are not created, and gangs that a limit of their account holds back. The result is computed again in
// each cycle.
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

// judgeCouldStart computes the results of CouldStart for many gangs at once and stores them in s.could.
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

// couldStartByLimits returns what CouldStart would return, as far as this can be decided without placing the gang.
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
	if s.Rules.CheckHoldable(j, j.MinimumRequest()).Code != "" {
		return false, true
	}
	allowed, sure := s.allowedAlone(j)
	if sure && !allowed {
		return false, true
	}
	if could, decided = s.couldFitAlone(j); decided && (sure || !could) {
		return could, true
	}
	return true, len(j.AtGate) > 0 // the queue's gate does not consider nodes
}

// mayStillArrive reports whether pods that a gang lacks may still be created.
func (s *Cycle) mayStillArrive(j *framework.Job) bool {
	explanation := j.Status.Explanation
	if explanation == nil || explanation.Reason != string(reason.NotEnoughPods) || explanation.Since == nil {
		return true
	}
	at := explanation.Since.Add(arrival)
	if s.Now.Before(at) {
		s.WakeAt(at)
		return true
	}
	return false
}

// allowedAlone reports whether the limits of the gang's queue would permit the gang's minimum if no other gang held
// anything. A queue's share is not such a limit, because unused resources are lent to other queues. sure is false if
// the limits may permit the gang's minimum with pods other than the first ones.
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

// vacateQueues makes the gang's queue and its ancestors appear to hold only what the gang itself holds, until the
// returned function is called.
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
