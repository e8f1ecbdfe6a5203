package cycle

import (
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// Line finds the gangs that are behind the gang that blocks their strict queue. It caches that gang for each queue.
type Line struct {
	s      *Cycle
	fronts map[*queue.Queue]*framework.Job
}

// NewStrictLine returns a Line for the current state of the strict queues.
func (s *Cycle) NewStrictLine() *Line {
	return &Line{s: s, fronts: map[*queue.Queue]*framework.Job{}}
}

// IsBehind reports whether an admitted gang of a strict queue is behind a gang that has not started and blocks the
// others.
func (l *Line) IsBehind(j *framework.Job) bool {
	if !j.In.Fifo {
		return false
	}
	front, known := l.fronts[j.In]
	if !known {
		front = l.s.FirstOfLine(j.In, nil)
		l.fronts[j.In] = front
	}
	return front != nil && front != j && l.s.Rules.CompareJobs(front, j) < 0
}

// FirstOfLine returns the first gang of a queue, other than the given one, that blocks the others; nil if there is
// no such gang. It checks only gangs that come before the one found so far.
func (s *Cycle) FirstOfLine(q *queue.Queue, besides *framework.Job) *framework.Job {
	var first *framework.Job
	for _, j := range s.AllWaiting {
		isCandidate := j != besides && j.In == q && j.HasTurn(true)
		if !isCandidate || (first != nil && s.Rules.CompareJobs(j, first) >= 0) {
			continue
		}
		if s.BlocksOthers(j) {
			first = j
		}
	}
	return first
}
