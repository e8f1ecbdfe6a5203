package scheduler

import (
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// updateLapsed marks as eased the queues in which more reservations have lapsed since the last cycle, because admitted
// gangs turned out to be unable to start. It does so only if a gang is waiting for reserved capacity.
func (c *gangCache) updateLapsed(s *cycle.Cycle) {
	for _, j := range c.waiting {
		waitsOutside := j.Parked && !j.IsAdmitted()
		if l := j.Verdict.Limit; waitsOutside && l != nil && l.Promised > 0 {
			c.easeLapsedQueues(s)
			return
		}
	}
	c.lapsed = nil
}

func (c *gangCache) easeLapsedQueues(s *cycle.Cycle) {
	now := make(map[*queue.Queue][]float64, len(c.lapsed))
	for _, q := range s.Ledger.Queues {
		amounts := s.Lapsed(q)
		if amounts == nil {
			continue
		}
		now[q] = amounts
		if before := c.lapsed[q]; before == nil || isLessForAny(before, amounts) {
			c.eased[q] = true
		}
	}
	c.lapsed = now
}

// easeInVainQueues marks the queues in which reservations ended because a gang that had passed the queue's gate turned
// out to be unable to start. It also marks the ancestors of these queues.
func (c *gangCache) easeInVainQueues(s *cycle.Cycle) {
	now := s.PassedInVain()
	for j := range now {
		if c.inVain[j] {
			continue
		}
		for q := j.In; q != nil; q = q.Parent {
			c.eased[q] = true
		}
	}
	c.inVain = now
}
