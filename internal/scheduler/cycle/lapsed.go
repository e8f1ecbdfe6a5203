package cycle

import (
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// lapsedIn returns, for each resource, how much is reserved in a queue and its descendants by gangs that could not
// start; nil if nothing is.
func (s *Cycle) lapsedIn(q *queue.Queue) []float64 { return s.lapsedByQueue()[q] }

// lapsedByQueue returns the results of lapsedIn for all queues.
func (s *Cycle) lapsedByQueue() map[*queue.Queue][]float64 {
	if s.lapsed != nil {
		return s.lapsed
	}
	s.lapsed = map[*queue.Queue][]float64{}
	var promised []*framework.Job
	for _, j := range s.AllWaiting {
		if j.HoldsPromise() {
			promised = append(promised, j)
		}
	}
	s.judgeCouldStart(promised)
	for _, j := range promised {
		if s.could[j] {
			continue
		}
		for q := j.In; q != nil; q = q.Parent {
			s.addLapsed(q, j.Sums.Inqueue)
		}
	}
	return s.lapsed
}

func (s *Cycle) addLapsed(q *queue.Queue, reserved resource.Vec) {
	sum := s.lapsed[q]
	if sum == nil {
		sum = make([]float64, s.Cluster.Resources.Len())
		s.lapsed[q] = sum
	}
	for i, v := range reserved {
		sum[i] += float64(v)
	}
}
