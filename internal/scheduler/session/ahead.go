package session

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// maxInside is how many gangs of a queue are admitted to it to wait for room that is
// taken, whether they can start now or not: the head, and others that come next. Who
// could start now is admitted however many these are: see AdmitCandidates.
const maxInside = 16

// LetInAhead says whether a gang that its queue has no room for now is let in all
// the same: where run times are known the first ones are, so that their pods
// exist and room can be kept for them. Behind the first only those that end.
func (s *Session) LetInAhead(j *Job, v reason.Code) bool {
	if !waitsForRoom(v) || !s.easy() || len(s.Endings()) == 0 {
		return false
	}
	if !Backfills(j.In) && !j.In.Fifo || exceeds(j.MinResources, j.In) {
		return false
	}
	inside := s.inside(j.In)
	if inside >= maxInside || inside > 0 && j.Estimate == 0 {
		return false
	}
	s.insides[j.In]++
	return true
}

// inside counts the gangs of a queue that are let in and wait for their minimum.
func (s *Session) inside(q *queue.Queue) int {
	if s.insides == nil {
		s.insides = map[*queue.Queue]int{}
		for _, j := range s.AllWaiting {
			if j != nil && j.LetIn() && !j.Satisfied() {
				s.insides[j.In]++
			}
		}
	}
	return s.insides[q]
}

// AtGate makes the first of each queue ready again among the gangs that wait
// outside, where it could be let in ahead.
func (s *Session) AtGate() {
	if !s.easy() {
		return
	}
	first := map[*queue.Queue]*Job{}
	for _, j := range s.AllWaiting {
		if j.LetIn() || !j.HasMinResources || !j.In.Known || !j.In.Open {
			continue
		}
		if head := first[j.In]; head == nil || s.Rules.CompareJobs(j, head) < 0 {
			first[j.In] = j
		}
	}
	for _, q := range s.Ledger.Queues {
		if j := first[q]; j != nil && j.Parked && s.inside(q) < maxInside {
			j.Parked = false
			j.Refresh(s)
			s.Ready = append(s.Ready, j)
		}
	}
}
