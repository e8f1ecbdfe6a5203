package cycle

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// ShareNeed is the result of comparing a gang's request with its queue's share.
type ShareNeed int

// The results of a comparison with a queue's share.
const (
	WithinShare   ShareNeed = iota
	MoreThanShare           // if the pods differ, only some of them may need more
	NotPermitted            // another limit of the queue rejects it
)

// CompareWithShare compares the request of a gang's minimum with its queue's share.
func (s *Cycle) CompareWithShare(j *framework.Job, minimum resource.Request) ShareNeed {
	switch code := s.Rules.MayTake(j.In, minimum).Code; {
	case code == "":
		return WithinShare
	case code == reason.OverDeserved, len(j.PendingShapes()) > 1: // other pods of the gang may request less
		return MoreThanShare
	}
	return NotPermitted
}

// mayUseShareOrBorrow reports whether FindBorrowers considers a waiting gang: it is admitted, waits for its minimum, has
// no resources, may be tried in this cycle, and was not skipped because others come before it.
func (s *Cycle) mayUseShareOrBorrow(j *framework.Job) bool {
	waitsForMinimum := j.IsAdmitted() && j.Need() > 0 && !j.HasResources()
	return waitsForMinimum && !j.IsBehindOthers() && s.IsTryable(j)
}

// FindBorrowers returns the waiting gangs that need more than their queues deserve. It returns nil if a gang that
// needs no more than its queue's share could start, because the free resources are for that gang.
func (s *Cycle) FindBorrowers() []*framework.Job {
	var borrowers, entitled []*framework.Job
	for _, j := range s.AllWaiting {
		if !s.mayUseShareOrBorrow(j) {
			continue
		}
		switch s.CompareWithShare(j, j.MinimumRequest()) {
		case WithinShare:
			entitled = append(entitled, j)
		case MoreThanShare:
			borrowers = append(borrowers, j)
		}
	}
	if len(borrowers) == 0 {
		return nil
	}
	for _, j := range entitled {
		if s.CouldStart(j) {
			return nil
		}
	}
	return borrowers
}
