// Package proportion divides the cluster among queues by weight.
//
//	In:   weights, guarantees and capabilities of queues, the amounts that they hold and request
//	Out:  Deserved and RealCapability per queue; rules QueueOrder, Overused, Allocatable, Enqueueable, Preemptive;
//	      entitlements to evict and guards against evictions
//
// # Invariants
//
//   - A queue never holds more than its capability. It also never holds resources that are needed to meet the
//     guarantees of other queues.
//   - The deserved amount of a queue is between its guarantee and its request.
//   - The sum of the deserved amounts is at most the resources of the cluster that queues can use, plus unused
//     guarantees.
//
// # Concurrency
//
// Between cycles, a Policy keeps only caches. The session and the ledger that it writes to belong to the engine's
// goroutine.
package proportion

import (
	"cmp"
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
	"github.com/vc-batch/vc/internal/scheduler/usable"
)

// Policy implements the proportion policy.
type Policy struct {
	conf   config.Plugin
	usable usable.Capacity
}

// New returns the policy.
func New(conf config.Plugin) *Policy { return &Policy{conf: conf} }

// Name returns "proportion".
func (*Policy) Name() string { return "proportion" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open divides the cluster and registers the rules.
func (p *Policy) Open(s *session.Session) {
	p.usable.DivideUsable(s, func() { SetQueueShares(s.Ledger) })
	r := &s.Rules
	rules := rules{s: s, resources: s.Cluster.Resources, ledger: s.Ledger, lapsed: s.Lapsed, sharers: map[sharersKey][]explain.Sharer{}}
	if p.conf.Enabled("enableQueueOrder") {
		r.QueueOrder = append(r.QueueOrder, func(a, b *queue.Queue) int {
			return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Share, b.Share))
		})
	}
	if p.conf.Enabled("enabledOverused") {
		r.Overused = append(r.Overused, rules.checkOverused)
	}
	if p.conf.Enabled("enabledAllocatable") {
		r.Allocatable = append(r.Allocatable, rules.checkAllocation)
		r.Startable = append(r.Startable, rules.checkStart)
	}
	if p.conf.Enabled("enableJobEnqueued") {
		r.Vote(rules.voteOnAdmission)
		r.Enqueued = append(r.Enqueued, func(j *framework.Job) {
			j.In.AddInqueue(j.MinResources, 1)
		})
	}
	if p.conf.Enabled("enablePreemptive") {
		r.Preemptive = append(r.Preemptive, rules.checkPreemption)
	}
	if p.conf.Enabled("enableReclaimable") {
		r.Entitle(rules.grantEviction, framework.Reclaim, framework.GangReclaim)
	}
	r.Guard(rules.protectGuarantees)
}

type rules struct {
	s         *session.Session
	resources *resource.Names
	ledger    *queue.Ledger
	// lapsed returns the amounts reserved in a queue by gangs that could not start even on an empty cluster.
	lapsed func(*queue.Queue) []float64
	// sharers caches the queues that have a share of a resource, the largest share first.
	sharers map[sharersKey][]explain.Sharer
}

// sharersKey identifies a resource and a division of the cluster among queues.
type sharersKey struct {
	resource int
	division uint64
}

// capabilityVerdict returns a verdict stating that RealCapability is exceeded. If the limit comes from the cluster's
// size and not from the queue's own capability, the verdict names the cluster.
func (r rules) capabilityVerdict(q *queue.Queue, index int, asked resource.Request, held float64) explain.Verdict {
	v := r.limitVerdict(reason.OverCapability, q, index, asked, held, q.RealCapability[index])
	if q.Capability[index] > q.RealCapability[index] {
		v.Code, v.Limit.Cluster = reason.GangDoesNotFit, true
		v.Limit.Kept = max(min(q.Capability[index], r.ledger.Usable[index])-q.RealCapability[index], 0)
	}
	return v
}

// limitVerdict returns a verdict stating that a limit of the queue is exceeded for a resource.
func (r rules) limitVerdict(code reason.Code, q *queue.Queue, index int, asked resource.Request, held float64, limit float64) explain.Verdict {
	return explain.Verdict{Code: code, Limit: &explain.Limit{
		Queue: q.Name, Resource: r.resources.Name(index), Asked: float64(asked.Get(index)), Held: held, Limit: limit,
	}}
}

// checkOverused returns a verdict if the queue already holds all that it deserves of every resource. Two kinds of queue
// are never overused: a queue without countable requests (best-effort pods), and a queue that deserves everything
// that queues can use, because then the nodes are the limit.
func (r rules) checkOverused(q *queue.Queue) explain.Verdict {
	some, capped := -1, false
	for i, d := range q.Deserved {
		if i == resource.Pods {
			continue
		}
		if d > q.Own.Allocated[i]+queue.Epsilon || (d > 0 && d >= r.ledger.Usable[i]-queue.Epsilon) {
			return explain.Verdict{}
		}
		full := d >= q.Capability[i]-queue.Epsilon // a larger share would not help
		isBetter := some < 0 || (full && !capped)
		if d > 0 && isBetter {
			some, capped = i, full
		}
	}
	switch {
	case some < 0:
		return explain.Verdict{}
	case capped:
		return r.limitVerdict(reason.OverCapability, q, some, nil, q.Own.Allocated[some], q.Capability[some])
	}
	return r.deservedVerdict(q, some, nil)
}

// checkAllocation returns a verdict if the queue may not use the requested amount in addition to its present use,
// because its capability or its share would be exceeded.
func (r rules) checkAllocation(q *queue.Queue, asked resource.Request) explain.Verdict {
	if !q.Open {
		return explain.Verdict{Code: reason.QueueClosed, Limit: &explain.Limit{Queue: q.Name}}
	}
	if i := queue.FindExceeded(r.resources, q.Own.Allocated, asked, q.RealCapability); i >= 0 {
		return r.capabilityVerdict(q, i, asked, q.Own.Allocated[i])
	}
	if i := q.Own.OverCapability(r.resources, asked, q.Capability); i >= 0 {
		v := r.limitVerdict(reason.OverCapability, q, i, asked, q.Own.Allocated[i]+q.Own.Lingering[i], q.Capability[i])
		v.Limit.Ending = q.Own.Lingering[i]
		return v
	}
	if i := r.firstOverShare(q, asked); i >= 0 {
		v := r.deservedVerdict(q, i, asked)
		if q.Deserved[i] >= r.ledger.Total[i]-queue.Epsilon {
			v.Code, v.Limit.Cluster = reason.GangDoesNotFit, true
		}
		return v
	}
	return explain.Verdict{}
}

// firstOverShare returns the first resource, by name, of which the queue would hold more than it deserves, or -1 if
// none exists. If the queue deserves everything that queues can use of a resource, and the nodes have more of it, the
// share is not the limit, so the verdicts about the nodes apply.
func (r rules) firstOverShare(q *queue.Queue, asked resource.Request) int {
	first := firstExceeded(r.resources, q.Own.Allocated, asked, q.Deserved)
	if first < 0 || !r.limitedByNodes(q, first) {
		return first
	}
	var limited resource.Request
	for _, t := range asked {
		if !r.limitedByNodes(q, int(t.Index)) {
			limited = append(limited, t)
		}
	}
	return firstExceeded(r.resources, q.Own.Allocated, limited, q.Deserved)
}

// limitedByNodes reports whether a queue deserves everything that queues can use of a resource, although the nodes have
// more of it.
func (r rules) limitedByNodes(q *queue.Queue, i int) bool {
	usable := r.ledger.Usable[i]
	return q.Deserved[i] >= usable-queue.Epsilon && usable < r.ledger.Total[i]-queue.Epsilon
}

// checkPreemption returns a verdict if the queue may not take the requested amount from other queues, because it may
// not hold that amount, or because it would hold more than it deserves.
func (r rules) checkPreemption(q *queue.Queue, asked resource.Request) explain.Verdict {
	if v := r.checkAllocation(q, asked); v.Code != "" {
		return v
	}
	if i := firstExceeded(r.resources, q.Own.Allocated, asked, q.Deserved); i >= 0 {
		return r.limitVerdict(reason.OverDeserved, q, i, asked, q.Own.Allocated[i], q.Deserved[i])
	}
	return explain.Verdict{}
}

// checkStart returns a verdict if the queue cannot hold the requested amount yet, because pods that have not ended
// still use its capability.
func (r rules) checkStart(q *queue.Queue, asked resource.Request) explain.Verdict {
	i := q.Own.OverCapabilityNow(r.resources, asked, q.Capability)
	if i < 0 {
		return explain.Verdict{}
	}
	v := r.limitVerdict(reason.OverCapability, q, i, asked, q.Own.Occupied[i], q.Capability[i])
	v.Limit.Ending = q.Own.Ending[i]
	return v
}

// firstExceeded is like queue.FindExceeded, but ignores the number of pods, because pods are not divided among queues.
func firstExceeded(resources *resource.Names, held []float64, asked resource.Request, limit []float64) int {
	best := -1
	for _, t := range asked {
		i := int(t.Index)
		isExceeded := i != resource.Pods && held[i]+float64(t.Value) > limit[i]+queue.Epsilon
		if isExceeded && (best < 0 || resources.Name(i) < resources.Name(best)) {
			best = i
		}
	}
	return best
}

// voteOnAdmission permits the admission of a gang if its minimum fits into the queue, in addition to the amounts that
// are used and reserved. Otherwise, it rejects the gang.
func (r rules) voteOnAdmission(j *framework.Job) (framework.Vote, explain.Verdict) {
	q := j.In
	if !q.Open {
		return framework.Reject, explain.Verdict{Code: reason.QueueClosed, Limit: &explain.Limit{Queue: q.Name}}
	}
	best := r.firstOverclaimed(q, j.MinResources, nil)
	var lapsed []float64
	if best >= 0 { // the second check is expensive, so it runs only if needed
		if lapsed = r.lapsed(q); lapsed != nil {
			best = r.firstOverclaimed(q, j.MinResources, lapsed)
		}
	}
	if best < 0 {
		return framework.Permit, explain.Verdict{}
	}
	v := r.capabilityVerdict(q, best, j.MinResources, q.Own.Allocated[best])
	if q.Grows() {
		v = r.limitVerdict(reason.OverCapability, q, best, j.MinResources, q.Own.Allocated[best], q.Capability[best])
	}
	v.Limit.Promised, v.Limit.Spare = reservedAmount(q, best, lapsed), q.Own.Elastic[best]
	if v.Limit.Cluster && v.Limit.Asked <= v.Limit.Limit { // the cluster is full, but it is large enough
		v.Code, v.Queue = reason.NotEnqueued, j.In.Name
	}
	return framework.Reject, v
}

// firstOverclaimed returns the first resource, by name, whose admission limit would be exceeded if asked were added to
// the amount that the queue holds and has reserved, without its elastic part. It returns -1 if everything fits.
func (r rules) firstOverclaimed(q *queue.Queue, asked resource.Request, lapsed []float64) int {
	best := -1
	for _, t := range asked {
		i := int(t.Index)
		claimed := q.Own.Allocated[i] + reservedAmount(q, i, lapsed) - q.Own.Elastic[i]
		if float64(t.Value)+claimed > admissionLimit(q)[i]+queue.Epsilon && (best < 0 || r.resources.Name(i) < r.resources.Name(best)) {
			best = i
		}
	}
	return best
}

// admissionLimit returns the limit for admissions to a queue. If the cluster grows with the queue's pending gangs, only
// the queue's own capability is the limit.
func admissionLimit(q *queue.Queue) []float64 {
	if q.Grows() {
		return q.Capability
	}
	return q.RealCapability
}

// reservedAmount returns the amount that is reserved for admitted gangs, without the gangs that cannot start.
func reservedAmount(q *queue.Queue, i int, lapsed []float64) float64 {
	if i < len(lapsed) {
		return max(q.Own.Inqueue[i]-lapsed[i], 0)
	}
	return q.Own.Inqueue[i]
}

// deservedVerdict returns a verdict stating that the queue's share is exceeded. The verdict lists the shares of all
// queues.
func (r rules) deservedVerdict(q *queue.Queue, index int, asked resource.Request) explain.Verdict {
	v := r.limitVerdict(reason.OverDeserved, q, index, asked, q.Own.Allocated[index], q.Deserved[index])
	v.Limit.Total, v.Limit.Sharers = r.ledger.Usable[index], r.queuesWithShare(index)
	return v
}

// queuesWithShare returns the queues that have a share of a resource, the largest share first.
func (r rules) queuesWithShare(index int) []explain.Sharer {
	key := sharersKey{index, r.ledger.Division}
	list, known := r.sharers[key]
	if known {
		return list
	}
	for _, q := range r.ledger.Queues {
		if q.Deserved[index] > queue.Epsilon {
			list = append(list, explain.Sharer{Queue: q.Name, Weight: max(q.Weight, 1), Share: q.Deserved[index]})
		}
	}
	slices.SortStableFunc(list, func(a, b explain.Sharer) int { return cmp.Compare(b.Share, a.Share) })
	r.sharers[key] = list
	return list
}

// exceedsDeserved reports whether the queue holds more than it deserves of any requested resource.
func (r rules) exceedsDeserved(q *queue.Queue, asked resource.Request) bool {
	for _, t := range asked {
		i := int(t.Index)
		if i != resource.Pods && q.Own.Allocated[i] > q.Deserved[i]+queue.Epsilon {
			return true
		}
	}
	return false
}
