package capacity

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

type verdict = explain.Verdict

// placed returns why a queue cannot hold gangs: because it has child queues, or no valid position in the tree.
func (r *rules) placed(q *queue.Queue) verdict {
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

// usable is like placed, but also requires the queue to be open.
func (r *rules) usable(q *queue.Queue) verdict {
	if !q.Open {
		return verdict{Code: reason.QueueClosed, Limit: &explain.Limit{Queue: q.Name}}
	}
	return r.placed(q)
}

// allocatable returns the reason if the queue, or an ancestor, may not use the requested amount in addition to its
// present use. A queue may borrow more than it deserves.
func (r *rules) allocatable(q *queue.Queue, asked model.Request) (v verdict) {
	if v := r.usable(q); v.Code != "" {
		return v
	}
	r.chain(q, func(p *queue.Queue) bool {
		held := r.sums(p).Allocated
		if i := queue.FindExceeded(r.resources, held, asked, p.RealCapability); i >= 0 {
			v = r.blame(p, i, asked, false)
		} else if i := r.sums(p).OverCapability(r.resources, asked, p.Capability); i >= 0 {
			v = r.unended(p, i, asked, held[i]+r.sums(p).Lingering[i], r.sums(p).Lingering[i])
		}
		return v.Code == ""
	})
	return v
}

// startable returns the reason if the requested amount would exceed the capability of the queue or an ancestor at
// present. Unlike allocatable, it counts pods until they have ended.
func (r *rules) startable(q *queue.Queue, asked model.Request) (v verdict) {
	r.chain(q, func(p *queue.Queue) bool {
		if i := r.sums(p).OverCapabilityNow(r.resources, asked, p.Capability); i >= 0 {
			v = r.unended(p, i, asked, r.sums(p).Occupied[i], r.sums(p).Ending[i])
		}
		return v.Code == ""
	})
	return v
}

// unended returns a verdict about a capability that is exhausted partly by pods that have not ended yet.
func (r *rules) unended(p *queue.Queue, i int, asked model.Request, held, ending float64) verdict {
	p.Refused = true
	return verdict{Code: reason.OverCapability, Limit: &explain.Limit{
		Queue: p.Name, Resource: r.resources.Name(i), Asked: float64(asked.Get(i)), Held: held, Ending: ending, Limit: p.Capability[i],
	}}
}

// blame returns a verdict that names the limit that applies: the queue's own limit, the limit of an ancestor, or the
// guarantees of other queues. If claims is true, reserved amounts count too.
func (r *rules) blame(p *queue.Queue, i int, asked model.Request, claims bool) verdict {
	p.Refused = true
	limit := func(q *queue.Queue) float64 {
		if claims {
			return r.ceiling(q)[i]
		}
		return q.RealCapability[i]
	}
	for r.tree && p.Parent != nil && p.Capability[i] > limit(p)+queue.Epsilon && limit(p.Parent) <= limit(p)+queue.Epsilon {
		p = p.Parent
		p.Refused = true
	}
	v := verdict{Code: reason.OverCapability, Limit: &explain.Limit{
		Queue: p.Name, Resource: r.resources.Name(i), Asked: float64(asked.Get(i)), Held: r.sums(p).Allocated[i], Limit: limit(p),
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

// ceiling returns the limit for admissions to a queue. It does not depend on the cluster's size if queues form a
// tree, or if the cluster grows with the queue's pending gangs.
func (r *rules) ceiling(q *queue.Queue) []float64 {
	if r.tree || q.Grows() {
		return q.Ceiling
	}
	return q.RealCapability
}

// enqueueable votes on the admission of a gang. Its minimum must fit into its queue and every ancestor, in addition
// to the used resources and the reservations of admitted gangs. If an ancestor is full, a queue still admits gangs up
// to its deserved resources, because other queues must return these.
func (r *rules) enqueueable(j *framework.Job) (framework.Vote, verdict) {
	v := r.usable(j.In)
	if v.Code != "" {
		return framework.Reject, v
	}
	var below *queue.Queue
	r.chain(j.In, func(p *queue.Queue) bool {
		if i := r.overClaimed(p, j.MinResources); i >= 0 && (below == nil || !r.entitled(p, below, j.MinResources)) {
			v = r.blame(p, i, j.MinResources, true)
			r.claims(p, i, &v)
		}
		below = p
		return v.Code == ""
	})
	if v.Code != "" {
		return framework.Reject, v
	}
	return framework.Permit, verdict{}
}

// claims adds the reserved and the elastic amounts of a limit to a verdict.
func (r *rules) claims(p *queue.Queue, i int, v *verdict) {
	leaf := p
	if v.Limit.Queue != p.Name { // the limit belongs to an ancestor
		for p.Name != v.Limit.Queue {
			p = p.Parent
		}
	}
	v.Limit.Promised, v.Limit.Spare = r.promised(p, i, r.lapsed(p)), r.sums(p).Elastic[i]
	if v.Limit.Cluster && v.Limit.Asked <= v.Limit.Limit { // the cluster is full, but it is large enough
		v.Code, v.Queue = reason.NotEnqueued, leaf.Name
	}
}

// overClaimed returns the first resource, by name, that is exceeded if asked is added to the amount that the queue
// holds and has reserved, without its elastic part.
func (r *rules) overClaimed(q *queue.Queue, asked model.Request) int {
	best := r.overClaimedBut(q, asked, nil)
	if best >= 0 { // the second check is expensive, so it runs only if needed
		if lapsed := r.lapsed(q); lapsed != nil {
			best = r.overClaimedBut(q, asked, lapsed)
		}
	}
	return best
}

func (r *rules) overClaimedBut(q *queue.Queue, asked model.Request, lapsed []float64) int {
	best := -1
	limit := r.ceiling(q)
	for _, t := range asked {
		i := int(t.Index)
		if r.claimed(q, i, lapsed)+float64(t.Value) > limit[i]+queue.Epsilon && (best < 0 || r.resources.Name(i) < r.resources.Name(best)) {
			best = i
		}
	}
	return best
}

// claimed returns the amount that a queue holds and has reserved, without its elastic part.
func (r *rules) claimed(q *queue.Queue, i int, lapsed []float64) float64 {
	s := r.sums(q)
	return s.Allocated[i] + r.promised(q, i, lapsed) - s.Elastic[i]
}

// promised returns the amount that is reserved for admitted gangs that are able to start at some time.
func (r *rules) promised(q *queue.Queue, i int, lapsed []float64) float64 {
	reserved := r.sums(q).Inqueue[i]
	if i < len(lapsed) {
		return max(reserved-lapsed[i], 0)
	}
	return reserved
}

// entitled reports whether a queue would claim no more than it deserves of every resource that its parent is short
// of.
func (r *rules) entitled(parent, q *queue.Queue, asked model.Request) bool {
	lapsed, limit := r.lapsed(parent), r.ceiling(parent)
	mine := r.lapsed(q)
	for _, t := range asked {
		i := int(t.Index)
		short := r.claimed(parent, i, lapsed)+float64(t.Value) > limit[i]+queue.Epsilon
		if short && (!q.Named[i] || r.claimed(q, i, mine)+float64(t.Value) > q.Deserved[i]+queue.Epsilon) {
			return false
		}
	}
	return true
}
