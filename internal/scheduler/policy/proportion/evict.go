package proportion

import (
	"fmt"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// entitle grants victims of queues that hold more than they deserve of what is
// asked for. What is counted out already the ledger does not hold any more.
func (r rules) entitle(a *session.Attack) session.Guard {
	gives := func(g *model.Gang) bool {
		q := r.ledger.Of(g.Queue)
		return q == nil || r.givesBack(q, a.Asked)
	}
	return session.Guard{Code: reason.WithinShare, Moves: true, Gang: gives, May: func(victims []*model.Task) (bool, string) {
		q := r.ledger.Of(victims[0].Gang.Queue)
		if q == nil || r.givesBack(q, a.Asked) {
			return q != nil, ""
		}
		return false, "queue " + q.Name
	}}
}

// guard keeps the guarantees of queues from those of other queues.
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
