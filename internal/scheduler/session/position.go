package session

import (
	"slices"

	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// fewPlaces is how many places in a queue are counted one by one before the
// whole queue is sorted.
const fewPlaces = 8

// places are who waits in a queue, in a cycle.
type places struct {
	jobs  []*Job // no order until sorted
	asked int
	at    map[*Job]int // from 1; nil: not sorted
}

// Place is the gang's position among the gangs of its queue that wait for their
// minimum, from 1, and how many those are. 0: it does not wait for that.
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
		slices.SortFunc(p.jobs, s.Rules.CompareJobs)
		p.at = make(map[*Job]int, len(p.jobs))
		for i, o := range p.jobs {
			p.at[o] = i + 1
		}
	}
	return p.at[j], len(p.jobs)
}

// Lacks says whether a gang waits for its start.
func (j *Job) Lacks() bool { return !j.LetIn() || !j.Satisfied() }
