package session

import (
	"maps"
	"slices"

	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// fewPlaces is how many positions in a queue are counted individually before the whole queue is sorted.
const fewPlaces = 8

// places holds the gangs that wait in a queue, in a cycle.
type places struct {
	jobs  []*framework.Job // in no order until sorted
	asked int
	at    map[*framework.Job]int // from 1; nil if not sorted
}

// Place returns the gang's position, from 1, among the gangs of its queue that wait for their minimum, and their
// number. A position of 0 means that the gang does not wait for its minimum.
func (s *Session) Place(j *framework.Job) (position, waiting int) {
	if s.places == nil {
		s.places = map[*queue.Queue]*places{}
		for _, o := range s.AllWaiting {
			if o == nil || !o.Lacks() {
				continue
			}
			p := s.places[o.In]
			if p == nil {
				p = &places{}
				s.places[o.In] = p
			}
			p.jobs = append(p.jobs, o)
		}
	}
	p := s.places[j.In]
	if p == nil || !j.Lacks() {
		return 0, 0
	}
	if p.asked++; p.asked <= fewPlaces {
		position = 1
		for _, o := range p.jobs {
			if o != j && s.Rules.CompareJobs(o, j) < 0 {
				position++
			}
		}
		return position, len(p.jobs)
	}
	if p.at == nil {
		s.sortQueue(p.jobs)
		p.at = make(map[*framework.Job]int, len(p.jobs))
		for i, o := range p.jobs {
			p.at[o] = i + 1
		}
	}
	return p.at[j], len(p.jobs)
}

// InFront reports whether a gang is among the first n of its queue that wait for their minimum. It gives the same
// result as Place without sorting the queue. n must be the same in all calls of a cycle.
func (s *Session) InFront(j *framework.Job, n int) bool {
	if s.front == nil {
		s.front = s.firstOfQueues(n, (*framework.Job).Lacks)
	}
	return s.front[j]
}

// Front returns the first n gangs of each queue that wait for their minimum, and the first n that wait for more.
func (s *Session) Front(n int) map[*framework.Job]bool {
	front := s.firstOfQueues(n, (*framework.Job).Lacks)
	maps.Copy(front, s.firstOfQueues(n, func(j *framework.Job) bool { return !j.Lacks() }))
	return front
}

// firstOfQueues returns the first n waiting gangs of each queue that which selects.
func (s *Session) firstOfQueues(n int, which func(*framework.Job) bool) map[*framework.Job]bool {
	lists := map[*queue.Queue][]*framework.Job{}
	for _, o := range s.AllWaiting {
		if o == nil || !which(o) {
			continue
		}
		list := lists[o.In]
		if len(list) == n && s.Rules.CompareJobs(list[n-1], o) <= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(list, o, s.Rules.CompareJobs)
		list = slices.Insert(list, at, o)
		lists[o.In] = list[:min(n, len(list))]
	}
	selected := map[*framework.Job]bool{}
	for _, list := range lists {
		for _, o := range list {
			selected[o] = true
		}
	}
	return selected
}
