package proportion

import (
	"fmt"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// entitle grants victims of queues that hold more of the requested resources than they deserve. The ledger no
// longer includes what is already counted out.
func (r rules) entitle(a *session.Attack) session.Guard {
	destitute := r.hasNothing(a)
	gives := func(g *model.Gang) bool {
		q := r.ledger.Of(g.Queue)
		return q == nil || destitute || r.givesBack(q, a.Asked)
	}
	return session.Guard{Code: reason.WithinShare, Moves: true, Gang: gives, May: func(victims []*model.Task) (bool, string) {
		q := r.ledger.Of(victims[0].Gang.Queue)
		if q == nil || r.givesBack(q, a.Asked) {
			return q != nil, ""
		}
		if destitute && r.canSpare(q, victims) {
			return true, ""
		}
		return false, "queue " + q.Name
	}}
}

// guard protects the guarantees of queues against other queues.
func (r rules) guard(a *session.Attack) session.Guard {
	if a.Kind != session.Reclaim && a.Kind != session.GangReclaim {
		return session.Guard{}
	}
	return session.Guard{Code: reason.Guaranteed, May: func(victims []*model.Task) (bool, string) {
		q := r.ledger.Of(victims[0].Gang.Queue)
		if q == nil || len(q.Guarantee) == 0 || a.Taker != nil && a.Taker.In == q {
			return true, ""
		}
		if i := queue.Under(q.Own.Allocated, victims, q.Guarantee); i >= 0 {
			return false, fmt.Sprintf("queue %s, %s", q.Name, r.resources.Name(i))
		}
		return true, ""
	}}
}

// hasNothing reports whether the taker's queue holds none of the requested resources. It deserves some, because
// otherwise it must not take any. The queues may together deserve more than each can use of the nodes, so no queue
// may hold more than it deserves while another has nothing.
func (r rules) hasNothing(a *session.Attack) bool {
	if a.Taker == nil {
		return false
	}
	some := false
	for _, t := range a.Asked {
		if i := int(t.Index); i != model.Pods {
			some = true
			if a.Taker.In.Own.Allocated[i] > queue.Epsilon {
				return false
			}
		}
	}
	return some
}

// canSpare reports whether victims of one gang are beyond its minimum, and leave their queue some of each resource
// that they hold. The queue can then not take them back for having nothing.
func (r rules) canSpare(q *queue.Queue, victims []*model.Task) bool {
	surplus := r.s.Surplus(victims[0].Gang)
	lost := session.Sum(victims)
	for _, t := range victims {
		if !surplus.Take(t) {
			return false
		}
	}
	for _, t := range lost {
		if i := int(t.Index); i != model.Pods && q.Own.Allocated[i]-float64(t.Value) <= queue.Epsilon {
			return false
		}
	}
	return true
}
