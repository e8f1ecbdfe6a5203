package proportion

import (
	"fmt"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// grantEviction grants the eviction of pods in queues that hold more of the requested resources than they deserve. The
// ledger no longer includes the victims that have already been selected.
func (r rules) grantEviction(a *framework.Attack) framework.Guard {
	destitute := r.hasNothing(a)
	gives := func(g *model.Gang) bool {
		q := r.ledger.Of(g.Queue)
		return q == nil || destitute || r.exceedsDeserved(q, a.Asked)
	}
	return framework.Guard{Code: reason.WithinShare, Moves: true, Gang: gives, May: func(victims []*model.Task) (bool, string) {
		q := r.ledger.Of(victims[0].Gang.Queue)
		if q == nil || r.exceedsDeserved(q, a.Asked) {
			return q != nil, ""
		}
		if destitute && r.canSpareVictims(q, victims) {
			return true, ""
		}
		return false, "queue " + q.Name
	}}
}

// protectGuarantees protects the guarantees of queues against evictions for other queues.
func (r rules) protectGuarantees(a *framework.Attack) framework.Guard {
	if a.Kind != framework.Reclaim && a.Kind != framework.GangReclaim {
		return framework.Guard{}
	}
	return framework.Guard{Code: reason.Guaranteed, May: func(victims []*model.Task) (bool, string) {
		q := r.ledger.Of(victims[0].Gang.Queue)
		isOwnQueue := a.Taker != nil && a.Taker.In == q
		if q == nil || isOwnQueue || len(q.Guarantee) == 0 {
			return true, ""
		}
		if i := q.Own.FindShortfall(victims, q.Guarantee); i >= 0 {
			return false, fmt.Sprintf("queue %s, %s", q.Name, r.resources.Name(i))
		}
		return true, ""
	}}
}

// hasNothing reports whether the taker's queue holds none of the requested resources. (Its share is not zero, because
// otherwise it could not take any.) In total, queues may deserve more than they can use of the nodes. It is therefore
// possible that no queue holds more than it deserves, although another queue has nothing.
func (r rules) hasNothing(a *framework.Attack) bool {
	if a.Taker == nil {
		return false
	}
	some := false
	for _, t := range a.Asked {
		if i := int(t.Index); i != resource.Pods {
			some = true
			if a.Taker.In.Own.Allocated[i] > queue.Epsilon {
				return false
			}
		}
	}
	return some
}

// canSpareVictims reports whether the victims are beyond their gang's minimum, and their queue keeps some of each
// resource that they hold. If so, the queue cannot take the resources back on the grounds that it has nothing.
func (r rules) canSpareVictims(q *queue.Queue, victims []*model.Task) bool {
	surplus := r.s.Job(victims[0].Gang).Surplus()
	lost := framework.SumRequests(victims)
	for _, t := range victims {
		if !surplus.TakeTask(t) {
			return false
		}
	}
	for _, t := range lost {
		if i := int(t.Index); i != resource.Pods && q.Own.Allocated[i]-float64(t.Value) <= queue.Epsilon {
			return false
		}
	}
	return true
}
