package scheduler

import (
	"math"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// figures holds the figures of a queue that were last reported to metrics.
type figures struct {
	isReported                                                                bool
	allocated, deserved, request, inqueue, capability, realCapability, ending []float64
	weight                                                                    int32
	share                                                                     float64
}

// pairFigures pairs the reported figures of a queue with the current ones.
func (f *figures) pairFigures(q *queue.Queue) [7]struct {
	old *[]float64
	now []float64
} {
	return [...]struct {
		old *[]float64
		now []float64
	}{
		{&f.allocated, q.Allocated}, {&f.deserved, q.Deserved}, {&f.request, q.Request}, {&f.inqueue, q.Inqueue},
		{&f.capability, q.Capability}, {&f.realCapability, q.RealCapability}, {&f.ending, q.Ending},
	}
}

// reportQueueFigures reports a queue's figures to metrics if they changed. It does not affect decisions.
func (e *Engine) reportQueueFigures(s *cycle.Cycle, q *queue.Queue) {
	stamp := e.gangs.stamps[q]
	old := &stamp.figures
	share := finiteOrZero(q.Share)
	same := old.isReported && old.share == share && old.weight == q.Weight
	for _, part := range old.pairFigures(q) {
		same = same && slices.Equal(*part.old, part.now)
	}
	if same {
		return
	}
	old.isReported, old.share, old.weight = true, share, q.Weight
	for _, part := range old.pairFigures(q) {
		*part.old = append((*part.old)[:0], part.now...)
	}
	e.gangs.stamps[q] = stamp
	resources := s.Cluster.Resources
	s.Out.Stats.Queues = append(s.Out.Stats.Queues, decision.QueueFigures{
		Queue: q.Name, Share: share, Weight: q.Weight, Overused: share > 1+queue.Epsilon/100 || s.Rules.CheckOverused(q).Code != "",
		Allocated: explain.ResourceList(q.Allocated, resources), Deserved: explain.ResourceList(q.Deserved, resources),
		Terminating: explain.ResourceList(q.Ending, resources),
		Request:     explain.ResourceList(q.Request, resources), Inqueue: explain.ResourceList(q.Inqueue, resources),
		Capacity: explain.ResourceList(q.Capability, resources), RealCapacity: explain.ResourceList(q.RealCapability, resources),
	})
}

// reportDeletedQueues reports the deleted queues for which figures were reported to metrics.
func (e *Engine) reportDeletedQueues(s *cycle.Cycle) {
	c := &e.gangs
	gone := func(q *queue.Queue, st *stamp) {
		if st.figures.isReported {
			s.Out.Stats.QueuesGone = append(s.Out.Stats.QueuesGone, q.Name)
			st.figures = figures{}
		}
	}
	for _, q := range s.Ledger.Queues {
		if st := c.stamps[q]; !q.Known && st.figures.isReported { // gangs still refer to it
			gone(q, &st)
			c.stamps[q] = st
		}
	}
	if len(c.stamps) == len(s.Ledger.Queues) {
		return
	}
	for q, st := range c.stamps {
		if s.Ledger.Of(q.Queue) != q {
			gone(q, &st)
			delete(c.stamps, q)
		}
	}
	slices.Sort(s.Out.Stats.QueuesGone)
}

// gangFigures holds the figures of a gang that were last reported to metrics.
type gangFigures struct {
	unready, attempts int
	share             float64
}

// reportGangFigures reports a gang's figures to metrics if they changed. It does not affect decisions.
func (e *Engine) reportGangFigures(s *cycle.Cycle, j *framework.Job) {
	now := gangFigures{attempts: j.Attempts, share: dominantShare(j.Gang.Sums.Allocated, s.Ledger.Total)}
	if j.Verdict.Code != "" {
		now.unready = j.Need()
	}
	old := e.gangs.lastFigures[j]
	if now == old || !j.Known {
		return
	}
	e.gangs.lastFigures[j] = now
	tries := now.attempts - old.attempts
	if tries < 0 { // the count restarted because the reason changed
		tries = now.attempts
	}
	s.Out.Stats.Gangs = append(s.Out.Stats.Gangs, decision.GangFigures{Gang: gangObject(j.Gang), Unready: now.unready, Tries: tries, Share: now.share})
}

// dominantShare returns the largest fraction of the cluster's total that held is of any resource except pods.
func dominantShare(held resource.Vec, total []float64) float64 {
	share := 0.0
	for i, v := range held {
		if i != resource.Pods && v > 0 && i < len(total) {
			share = max(share, min(float64(v)/math.Max(total[i], 1), 1))
		}
	}
	return share
}

// recordDeleted records that a gang was deleted if its figures were reported to metrics.
func (c *gangCache) recordDeleted(j *framework.Job) {
	if _, known := c.lastFigures[j]; known {
		c.goneFigures = append(c.goneFigures, gangObject(j.Gang))
		delete(c.lastFigures, j)
	}
}

// takeDeletedGangs returns the recorded deleted gangs, sorted by key, and clears the list.
func (c *gangCache) takeDeletedGangs() []decision.Object {
	list := c.goneFigures
	c.goneFigures = nil
	slices.SortFunc(list, func(x, y decision.Object) int { return strings.Compare(x.Key(), y.Key()) })
	return list
}
