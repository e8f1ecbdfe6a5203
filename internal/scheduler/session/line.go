package session

import "github.com/vc-batch/vc/internal/scheduler/queue"

// Line tells who stands behind the gang that a strict queue waits for. What it found out about a queue it keeps.
type Line struct {
	s      *Session
	fronts map[*queue.Queue]*Job
}

// Line looks at the strict queues as they stand now.
func (s *Session) Line() *Line { return &Line{s: s, fronts: map[*queue.Queue]*Job{}} }

// Behind says whether a gang that is let in stands in a strict queue behind one that could not start and holds up the others.
func (l *Line) Behind(j *Job) bool {
	if !j.In.Fifo {
		return false
	}
	front, known := l.fronts[j.In]
	if !known {
		front = l.s.firstOfLine(j.In, nil)
		l.fronts[j.In] = front
	}
	return front != nil && front != j && l.s.Rules.CompareJobs(front, j) < 0
}

// firstOfLine returns the first gang of a queue, other than the given one, that the others have to wait for; nil: none. Whether
// they have to is only asked of gangs that stand before the one found so far.
func (s *Session) firstOfLine(q *queue.Queue, besides *Job) *Job {
	var first *Job
	for _, j := range s.AllWaiting {
		isCandidate := j != besides && j.In == q && j.hasTurn(true)
		if !isCandidate || first != nil && s.Rules.CompareJobs(j, first) >= 0 {
			continue
		}
		if s.Blocks(j) {
			first = j
		}
	}
	return first
}
