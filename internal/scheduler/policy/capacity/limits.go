package capacity

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

type verdict = explain.Verdict

// checkPosition returns the reason if a queue cannot hold gangs because it has child queues or no valid position in the
// tree.
func (r *rules) checkPosition(q *queue.Queue) verdict {
	switch {
	case !r.tree || !q.Known:
		return verdict{}
	case q.Fault != "":
		return verdict{Code: reason.QueueInvalid, Limit: &explain.Limit{Queue: q.Name}, Blocker: []string{q.Fault}}
	case !q.IsLeaf():
		return verdict{Code: reason.QueueNotLeaf, Limit: &explain.Limit{Queue: q.Name}}
	}
	return verdict{}
}

// checkUsable is like checkPosition, but also requires the queue to be open.
func (r *rules) checkUsable(q *queue.Queue) verdict {
	if !q.Open {
		return verdict{Code: reason.QueueClosed, Limit: &explain.Limit{Queue: q.Name}}
	}
	return r.checkPosition(q)
}

// checkAllocation returns the reason if the queue, or an ancestor, may not use the requested amount in addition to its
// present use. A queue may borrow more than it deserves.
func (r *rules) checkAllocation(q *queue.Queue, asked resource.Request) (v verdict) {
	if v := r.checkUsable(q); v.Code != "" {
		return v
	}
	r.visitAncestry(q, func(p *queue.Queue) bool {
		held := r.effectiveSums(p).Allocated
		if i := queue.FindExceeded(r.resources, held, asked, p.RealCapability); i >= 0 {
			v = r.limitVerdict(p, i, asked, false)
		} else if i := r.effectiveSums(p).OverCapability(r.resources, asked, p.Capability); i >= 0 {
			v = r.unendedPodsVerdict(p, i, asked, held[i]+r.effectiveSums(p).Lingering[i], r.effectiveSums(p).Lingering[i])
		}
		return v.Code == ""
	})
	return v
}

// checkStart returns the reason if the requested amount would exceed the capability of the queue or an ancestor at
// present. Unlike checkAllocation, it counts pods until they have ended.
func (r *rules) checkStart(q *queue.Queue, asked resource.Request) (v verdict) {
	r.visitAncestry(q, func(p *queue.Queue) bool {
		if i := r.effectiveSums(p).OverCapabilityNow(r.resources, asked, p.Capability); i >= 0 {
			v = r.unendedPodsVerdict(p, i, asked, r.effectiveSums(p).Occupied[i], r.effectiveSums(p).Ending[i])
		}
		return v.Code == ""
	})
	return v
}

// unendedPodsVerdict returns a verdict about a capability that is exhausted partly by pods that have not ended yet.
func (r *rules) unendedPodsVerdict(p *queue.Queue, i int, asked resource.Request, held, ending float64) verdict {
	p.Refused = true
	return verdict{Code: reason.OverCapability, Limit: &explain.Limit{
		Queue: p.Name, Resource: r.resources.Name(i), Asked: float64(asked.Get(i)), Held: held, Ending: ending, Limit: p.Capability[i],
	}}
}

// limitVerdict returns a verdict that names the limit that applies: the queue's own limit, the limit of an ancestor, or
// the guarantees of other queues. If claims is true, reserved amounts count too.
func (r *rules) limitVerdict(p *queue.Queue, i int, asked resource.Request, claims bool) verdict {
	p.Refused = true
	limit := func(q *queue.Queue) float64 {
		if claims {
			return r.admissionLimit(q)[i]
		}
		return q.RealCapability[i]
	}
	isLimitOfParent := func(q *queue.Queue) bool {
		if !r.tree || q.Parent == nil {
			return false
		}
		return q.Capability[i] > limit(q)+queue.Epsilon && limit(q.Parent) <= limit(q)+queue.Epsilon
	}
	for isLimitOfParent(p) {
		p = p.Parent
		p.Refused = true
	}
	v := verdict{Code: reason.OverCapability, Limit: &explain.Limit{
		Queue: p.Name, Resource: r.resources.Name(i), Asked: float64(asked.Get(i)), Held: r.effectiveSums(p).Allocated[i], Limit: limit(p),
	}}
	switch {
	case p.Capability[i] <= limit(p)+queue.Epsilon:
	case r.tree && p.Parent != nil:
		most := min(p.Capability[i], limit(p.Parent))
		if !claims { // a ceiling does not depend on the nodes
			most = min(most, r.ledger.Usable[i])
		}
		v.Limit.Kept = max(most-limit(p), 0)
	default:
		v.Code, v.Limit.Cluster = reason.GangDoesNotFit, true
		v.Limit.Kept = max(min(p.Capability[i], r.ledger.Usable[i])-limit(p), 0)
	}
	return v
}

// admissionLimit returns the limit for admissions to a queue. It does not depend on the cluster's size if queues form a
// tree, or if the cluster grows with the queue's pending gangs.
func (r *rules) admissionLimit(q *queue.Queue) []float64 {
	if r.tree || q.Grows() {
		return q.Ceiling
	}
	return q.RealCapability
}

// voteOnAdmission votes on the admission of a gang. Its minimum must fit into its queue and every ancestor, in addition
// to the used resources and the reservations of admitted gangs. If an ancestor is full, a queue still admits gangs up
// to its deserved resources, because other queues must return these resources.
func (r *rules) voteOnAdmission(j *framework.Job) (framework.Vote, verdict) {
	v := r.checkUsable(j.In)
	if v.Code != "" {
		return framework.Reject, v
	}
	var below *queue.Queue
	r.visitAncestry(j.In, func(p *queue.Queue) bool {
		if i := r.firstOverclaimed(p, j.MinResources); i >= 0 && (below == nil || !r.staysWithinDeserved(p, below, j.MinResources)) {
			v = r.limitVerdict(p, i, j.MinResources, true)
			r.addClaims(p, i, &v)
		}
		below = p
		return v.Code == ""
	})
	if v.Code != "" {
		return framework.Reject, v
	}
	return framework.Permit, verdict{}
}

// addClaims adds to a verdict the reserved and the elastic amounts that count for its limit.
func (r *rules) addClaims(p *queue.Queue, i int, v *verdict) {
	leaf := p
	if v.Limit.Queue != p.Name { // the limit belongs to an ancestor
		for p.Name != v.Limit.Queue {
			p = p.Parent
		}
	}
	v.Limit.Promised, v.Limit.Spare = r.reservedAmount(p, i, r.lapsed(p)), r.effectiveSums(p).Elastic[i]
	if v.Limit.Cluster && v.Limit.Asked <= v.Limit.Limit { // the cluster is full, but it is large enough
		v.Code, v.Queue = reason.NotEnqueued, leaf.Name
	}
}

// firstOverclaimed returns the first resource, by name, whose admission limit would be exceeded if asked were added to
// the claimed amount of the queue: see claimedAmount. It returns -1 if no limit would be exceeded.
func (r *rules) firstOverclaimed(q *queue.Queue, asked resource.Request) int {
	best := r.overClaimedWithout(q, asked, nil)
	if best >= 0 { // the second check is expensive, so it runs only if needed
		if lapsed := r.lapsed(q); lapsed != nil {
			best = r.overClaimedWithout(q, asked, lapsed)
		}
	}
	return best
}

func (r *rules) overClaimedWithout(q *queue.Queue, asked resource.Request, lapsed []float64) int {
	best := -1
	limit := r.admissionLimit(q)
	for _, t := range asked {
		i := int(t.Index)
		if r.claimedAmount(q, i, lapsed)+float64(t.Value) > limit[i]+queue.Epsilon && (best < 0 || r.resources.Name(i) < r.resources.Name(best)) {
			best = i
		}
	}
	return best
}

// claimedAmount returns the amount that a queue holds and has reserved, without its elastic part.
func (r *rules) claimedAmount(q *queue.Queue, i int, lapsed []float64) float64 {
	s := r.effectiveSums(q)
	return s.Allocated[i] + r.reservedAmount(q, i, lapsed) - s.Elastic[i]
}

// reservedAmount returns the amount that is reserved for admitted gangs, without the gangs that cannot start.
func (r *rules) reservedAmount(q *queue.Queue, i int, lapsed []float64) float64 {
	reserved := r.effectiveSums(q).Inqueue[i]
	if i < len(lapsed) {
		return max(reserved-lapsed[i], 0)
	}
	return reserved
}

// staysWithinDeserved reports whether a queue would claim no more than it deserves. It checks only the requested
// resources that the parent is short of.
func (r *rules) staysWithinDeserved(parent, q *queue.Queue, asked resource.Request) bool {
	lapsed, limit := r.lapsed(parent), r.admissionLimit(parent)
	mine := r.lapsed(q)
	for _, t := range asked {
		i := int(t.Index)
		short := r.claimedAmount(parent, i, lapsed)+float64(t.Value) > limit[i]+queue.Epsilon
		if short && (!q.Named[i] || r.claimedAmount(q, i, mine)+float64(t.Value) > q.Deserved[i]+queue.Epsilon) {
			return false
		}
	}
	return true
}
