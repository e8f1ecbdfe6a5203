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
		front = l.front(j.In)
		l.fronts[j.In] = front
	}
	return front != nil && front != j && l.s.Rules.CompareJobs(front, j) < 0
}

// front is the first gang of a queue that the others have to wait for; nil: none. Whether they have to is only asked of
// gangs that stand before the one found so far.
func (l *Line) front(q *queue.Queue) *Job {
	var front *Job
	for _, j := range l.s.AllWaiting {
		if j.In == q && j.hasTurn(true) && (front == nil || l.s.Rules.CompareJobs(j, front) < 0) && l.s.Blocks(j) {
			front = j
		}
	}
	return front
}
