package session

import (
	"slices"

	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// fewPlaces is how many positions in a queue are counted individually before the whole queue is sorted.
const fewPlaces = 8

// places holds the gangs that wait in a queue, in a cycle.
type places struct {
	jobs  []*Job // in no order until sorted
	asked int
	at    map[*Job]int // from 1; nil if not sorted
}

// Place returns the gang's position, from 1, among the gangs of its queue that wait for their minimum, and their
// number. A position of 0 means that the gang does not wait for its minimum.
func (s *Session) Place(j *Job) (position, waiting int) {
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
		p.at = make(map[*Job]int, len(p.jobs))
		for i, o := range p.jobs {
			p.at[o] = i + 1
		}
	}
	return p.at[j], len(p.jobs)
}

// InFront reports whether a gang is among the first n of its queue that wait for their minimum. It gives the same
// result as Place without sorting the queue. n must be the same in all calls of a cycle.
func (s *Session) InFront(j *Job, n int) bool {
	if s.front == nil {
		s.front = map[*Job]bool{}
		for _, first := range s.firstOfQueues(n) {
			for _, o := range first {
				s.front[o] = true
			}
		}
	}
	return s.front[j]
}

func (s *Session) firstOfQueues(n int) map[*queue.Queue][]*Job {
	lists := map[*queue.Queue][]*Job{}
	for _, o := range s.AllWaiting {
		if o == nil || !o.Lacks() {
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
	return lists
}

// Lacks reports whether a gang waits for admission or for its minimum.
func (j *Job) Lacks() bool { return !j.LetIn() || !j.Satisfied() }
