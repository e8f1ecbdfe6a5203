package sim

import (
	"cmp"
	"maps"
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// checkGuarantees checks that no queue is reclaimed below its guarantee. The decisions have been assumed in the model. Pods
// that a queue loses to its own gangs do not count.
func (w *World) checkGuarantees(d *decision.Decisions, c *model.Cluster) {
	reclaimed, preempted := map[*model.Queue]bool{}, map[*model.Queue]int64{}
	for i := range d.Evicts {
		taker, victim := c.Gangs[d.Evicts[i].Preemptor.Key()], c.Gangs[d.Evicts[i].Gang.Key()]
		switch {
		case taker == nil || victim == nil || victim.Queue == nil:
		case taker.Queue != victim.Queue:
			reclaimed[victim.Queue] = true
		default:
			preempted[victim.Queue] += w.requestOfPod(d.Evicts[i].Pod)
		}
	}
	for _, queue := range slices.SortedFunc(maps.Keys(reclaimed), func(x, y *model.Queue) int { return cmp.Compare(x.Name, y.Name) }) {
		guarantee, held := int64(queue.Guarantee.Get(resource.CPU)), preempted[queue]
		for _, g := range c.Gangs {
			if g.Queue != queue {
				continue
			}
			for _, t := range g.Tasks {
				if t.Status.IsAllocated() || t.Status == model.Pipelined {
					held += int64(t.Shape.Request.Get(resource.CPU))
				}
			}
		}
		if held < guarantee {
			w.fail("queue %s is guaranteed cpu %dm, but is left with %dm after other queues have reclaimed pods", queue.Name, guarantee, held)
		}
	}
}

// requestOfPod returns the CPU request of a pod, in thousandths.
func (w *World) requestOfPod(o decision.Object) int64 {
	if pod := w.pod(o.Namespace, o.Name); pod != nil {
		return milliCPU(pod)
	}
	return 0
}
