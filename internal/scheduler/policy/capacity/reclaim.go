package capacity

import (
	"fmt"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// checkPreemption returns the reason if a queue may not take the requested amount from other queues. It may take the
// amount if it stays within its capability, and if it or one of the considered ancestors stays within its deserved
// amounts.
func (r *rules) checkPreemption(q *queue.Queue, asked resource.Request) verdict {
	if v := r.checkUsable(q); v.Code != "" {
		return v
	}
	if i := queue.FindExceeded(r.resources, r.effectiveSums(q).Allocated, asked, q.RealCapability); i >= 0 {
		return r.limitVerdict(q, i, asked, false)
	}
	over := r.firstOverDeserved(q, asked)
	if over < 0 {
		return verdict{}
	}
	for n := 1; r.tree && n <= r.levels; n++ {
		p := q.Ancestor(n)
		if p == nil || p.Name == keys.RootQueue {
			break
		}
		if r.firstOverDeserved(p, asked) < 0 {
			return verdict{}
		}
	}
	return verdict{Code: reason.OverDeserved, Limit: &explain.Limit{
		Queue: q.Name, Resource: r.resources.Name(over), Asked: float64(asked.Get(over)), Held: r.effectiveSums(q).Allocated[over], Limit: q.Deserved[over],
	}}
}

// firstOverDeserved returns the first requested resource, by name, of which a queue would hold more than it deserves.
// It returns -1 if none exists. Resources that the deserved amounts do not name are ignored. A queue whose deserved
// amounts name none of the requested resources deserves nothing.
func (r *rules) firstOverDeserved(q *queue.Queue, asked resource.Request) int {
	best, some, first := -1, false, -1
	held := r.effectiveSums(q).Allocated
	for _, t := range asked {
		i := int(t.Index)
		if i == resource.Pods {
			continue
		}
		if first < 0 || r.resources.Name(i) < r.resources.Name(first) {
			first = i
		}
		if !q.Named[i] {
			continue
		}
		some = true
		if held[i]+float64(t.Value) > q.Deserved[i]+queue.Epsilon && (best < 0 || r.resources.Name(i) < r.resources.Name(best)) {
			best = i
		}
	}
	if !some {
		return first
	}
	return best
}

// grantEviction grants the eviction of pods in queues that hold more than they deserve. The ledger no longer includes
// the victims that have already been selected.
func (r *rules) grantEviction(a *framework.Attack) framework.Guard {
	return framework.Guard{Code: reason.WithinShare, Moves: true, May: func(victims []*model.Task) (bool, string) {
		q := r.ledger.Of(victims[0].Gang.Queue)
		if q == nil || q == a.Taker.In {
			return false, "the pod is in the same queue"
		}
		named := r.deservesAnyOf(q, victims)
		if !named && !r.sharesAncestor(q, a) { // a queue only borrows resources that its deserved amounts do not name
			return true, ""
		}
		if named && !r.exceedsDeserved(q, a.Asked, victims) {
			return false, "queue " + q.Name
		}
		for n := 1; r.tree && n <= r.levels; n++ {
			p := q.Ancestor(n)
			if p == nil || p.Name == keys.RootQueue {
				break
			}
			if !a.Taker.In.IsWithin(p) && !r.exceedsDeserved(p, a.Asked, victims) {
				return false, "queue " + p.Name
			}
		}
		return named, ""
	}}
}

// sharesAncestor reports whether a queue and the taker's queue have a considered ancestor in common, and the taker's
// queue deserves none of the requested resources.
func (r *rules) sharesAncestor(q *queue.Queue, a *framework.Attack) bool {
	if !r.tree || r.levels == 0 {
		return false
	}
	for _, t := range a.Asked {
		if i := int(t.Index); i != resource.Pods && a.Taker.In.Named[i] {
			return false
		}
	}
	for n := 1; n <= r.levels; n++ {
		if p := q.Ancestor(n); p != nil && p.Name != keys.RootQueue && a.Taker.In.IsWithin(p) {
			return true
		}
	}
	return false
}

// deservesAnyOf reports whether a queue's deserved amounts name any of the resources that the tasks hold.
func (r *rules) deservesAnyOf(q *queue.Queue, victims []*model.Task) bool {
	for _, t := range victims {
		for _, term := range t.Shape.Request {
			if i := int(term.Index); i != resource.Pods && q.Named[i] {
				return true
			}
		}
	}
	return false
}

// exceedsDeserved reports whether a queue holds more than it deserves of any requested resource. It considers only
// resources that the victims also hold.
func (r *rules) exceedsDeserved(q *queue.Queue, asked resource.Request, victims []*model.Task) bool {
	held := r.effectiveSums(q).Allocated
	for _, t := range asked {
		i := int(t.Index)
		if i == resource.Pods || !q.Named[i] || held[i] <= q.Deserved[i]+queue.Epsilon {
			continue
		}
		for _, victim := range victims {
			if victim.Shape.Request.Get(i) > 0 {
				return true
			}
		}
	}
	return false
}

// protectGuarantees prevents a reclaim from taking resources that are guaranteed to the victims' queue or its
// ancestors. Ancestors that also contain the reclaiming queue are exempt.
func (r *rules) protectGuarantees(a *framework.Attack) framework.Guard {
	if a.Kind != framework.Reclaim && a.Kind != framework.GangReclaim {
		return framework.Guard{}
	}
	return framework.Guard{Code: reason.Guaranteed, May: func(victims []*model.Task) (ok bool, why string) {
		q := r.ledger.Of(victims[0].Gang.Queue)
		if q == nil {
			return true, ""
		}
		r.visitAncestry(q, func(p *queue.Queue) bool {
			if a.Taker != nil && a.Taker.In.IsWithin(p) {
				return false
			}
			if i := r.effectiveSums(p).FindShortfall(victims, p.Guarantee); i >= 0 {
				why = fmt.Sprintf("queue %s, %s", p.Name, r.resources.Name(i))
			}
			return why == ""
		})
		return why == "", why
	}}
}
