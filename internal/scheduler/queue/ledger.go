// Package queue tracks, during one cycle, what every queue holds, requests and deserves, and how queues form a
// tree.
//
//	In:   the model's queue sums and parents
//	Out:  Ledger, updated with the placements of the cycle and rolled back with them
//
// Amounts are float64 in the model's units because shares divide them. Whole numbers up to 2^53 are exact, larger
// ones have 16 digits. The number of pods counts only where a capability names it, so that a queue is not limited
// by its number of pods.
//
// # Invariants
//
//   - What a queue holds always counts in all its ancestors.
//   - A queue with an invalid position in the tree has a Fault and no parent. It and its descendants stand alone,
//     and other queues are not affected.
//
// # Concurrency
//
// A Ledger belongs to one engine.
package queue

import (
	"math"
	"slices"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
)

// Epsilon is the maximum difference of two amounts that count as equal.
const Epsilon = 0.1

// Sums holds what gangs hold and request, by resource index.
type Sums struct {
	Allocated, Request, Inqueue, Elastic []float64
	// Occupied is held on nodes by pods until they end: Allocated without the promised part, plus what pods hold
	// that are being deleted.
	Occupied []float64
	// Ending is the part of Occupied held by pods that are being deleted or whose end is unknown. Lingering is held
	// by the pods whose end is unknown.
	Ending, Lingering []float64
}

// Queue is a queue during a cycle. Vectors are indexed by resource and have the same length.
type Queue struct {
	*model.Queue
	// Parent is nil at the top. Children are sorted by name.
	Parent   *Queue
	Children []*Queue
	// Level is the number of ancestors.
	Level int
	// Fault describes why the queue has no position in the tree; "" if it has one.
	Fault string
	// Warnings describe contradictions in the queue's spec and, if its policy checks this, with its parent. The
	// order is the same for the same queues.
	Warnings []string

	// Sums cover the queue's own gangs and the gangs of all its descendants. Own covers only its own gangs.
	Sums
	Own Sums
	// Deserved is the amount that the queue may hold, can reclaim, and need not give back. The policy that computes
	// shares sets it.
	Deserved []float64
	// Entitled is the amount that the queue can rely on however full the cluster is: its share if it requested
	// that much. The policy that computes shares sets it.
	Entitled []float64
	// RealCapability is the most that the queue can ever hold; +Inf if unlimited.
	RealCapability []float64
	// Ceiling is RealCapability regardless of the cluster's current capacity.
	Ceiling []float64
	// Capability is spec.capability; +Inf for resources that it does not name.
	Capability []float64
	// Share is the largest used fraction of Deserved, over the resources; 1 means all of it.
	Share float64
	// Shared is true if a policy set Deserved.
	Shared bool
	// Refused is true if a limit of the queue rejected a gang of the queue or its descendants in this cycle.
	Refused bool

	// Named holds the resources that spec.deserved names. Only SetNamedShare uses it.
	Named []bool

	// flat is true if Share counts only what the queue itself holds.
	flat bool
	// all is true if every resource counts in Share, whether or not deserved names it.
	all    bool
	totals []float64
	said   said
}

// Grows reports whether the cluster grows with the queue's pending gangs. They are then admitted up to the queue's
// own limits.
func (q *Queue) Grows() bool { return q.Annotations[keys.ElasticCluster] == "true" }

// Ledger holds, by name, all queues that exist or have gangs.
type Ledger struct {
	Queues []*Queue
	// TopDown lists the same queues, parents before children.
	TopDown []*Queue
	// Total is the capacity of the cluster. Usable is the part of it that pods of queues can use, according to
	// taints, cordons and pods outside of queues. Policies divide Usable among queues. It equals Total unless a
	// policy sets it.
	Total, Usable []float64
	// Division identifies what queues deserve: it is the same number whenever a simulation has restored the shares.
	Division  uint64
	divisions uint64

	byModel map[*model.Queue]*Queue
	sorted  []*model.Queue
	setGen  uint64
}

// Open copies the sums from the model.
func (l *Ledger) Open(c *model.Cluster) {
	n := c.Resources.Len()
	if l.byModel == nil || l.setGen != c.QueueSetGen || len(l.Queues) != len(c.Queues) {
		l.collect(c)
		l.arrange()
		l.setGen = c.QueueSetGen
	}
	l.Total = load(l.Total, c.Total, n)
	l.Usable = append(l.Usable[:0], l.Total...)
	for _, q := range l.Queues {
		q.open(n, c.Resources)
	}
	for i := len(l.TopDown) - 1; i >= 0; i-- {
		if q := l.TopDown[i]; q.Parent != nil {
			q.Parent.Sums.add(&q.Sums)
		}
	}
}

// shares holds what policies compute for a queue.
type shares struct {
	deserved, entitled, realCapability, ceiling []float64
	share                                       float64
}

// SaveShares returns a function that restores Usable and the queues' deserved resources and limits.
func (l *Ledger) SaveShares() (restore func()) {
	usable, division := slices.Clone(l.Usable), l.Division
	saved := make([]shares, len(l.Queues))
	for k, q := range l.Queues {
		saved[k] = shares{
			deserved: slices.Clone(q.Deserved), entitled: slices.Clone(q.Entitled),
			realCapability: slices.Clone(q.RealCapability), ceiling: slices.Clone(q.Ceiling), share: q.Share,
		}
	}
	return func() {
		l.Usable, l.Division = usable, division
		for k, q := range l.Queues {
			was := saved[k]
			q.Deserved, q.Entitled, q.RealCapability, q.Ceiling, q.Share = was.deserved, was.entitled, was.realCapability, was.ceiling, was.share
		}
	}
}

// ClearShares resets what queues deserve and may have to the values that policies start from.
func (l *Ledger) ClearShares() {
	l.divisions++
	l.Division = l.divisions
	for _, q := range l.Queues {
		clear(q.Deserved)
		clear(q.Entitled)
		copy(q.RealCapability, q.Capability)
		copy(q.Ceiling, q.Capability)
	}
}

// collect updates the list of queues from the model and reuses existing entries.
func (l *Ledger) collect(c *model.Cluster) {
	l.sorted = c.SortedQueues(l.sorted)
	old := l.byModel
	l.byModel = make(map[*model.Queue]*Queue, len(l.sorted))
	l.Queues = l.Queues[:0]
	for _, q := range l.sorted {
		mine := old[q]
		if mine == nil {
			mine = &Queue{Queue: q}
		}
		l.byModel[q] = mine
		l.Queues = append(l.Queues, mine)
	}
}

// Of returns the ledger's entry of a model queue.
func (l *Ledger) Of(q *model.Queue) *Queue { return l.byModel[q] }

func (q *Queue) open(n int, resources *model.Resources) {
	from := &q.Queue.Sums
	q.Own.Allocated = load(q.Own.Allocated, from.Allocated, n)
	q.Own.Inqueue = load(q.Own.Inqueue, from.Inqueue, n)
	q.Own.Elastic = load(q.Own.Elastic, from.Elastic, n)
	q.Own.Request = load(q.Own.Request, from.Pending, n)
	q.Own.Lingering = load(q.Own.Lingering, from.Lingering, n)
	q.Own.Ending = load(q.Own.Ending, from.Leaving, n)
	q.Own.Occupied = load(q.Own.Occupied, nil, n)
	for i, v := range q.Own.Allocated {
		q.Own.Request[i] += v
		q.Own.Ending[i] += q.Own.Lingering[i]
		q.Own.Occupied[i] = v - float64(from.Promised.Get(i)) + q.Own.Ending[i]
	}
	if q.Leaf() { // for a leaf both are the same
		q.Sums = q.Own
	} else {
		q.own(n)
	}
	q.Deserved = load(q.Deserved, nil, n)
	q.Entitled = load(q.Entitled, nil, n)
	q.RealCapability = fill(q.RealCapability, n)
	q.Capability = fill(q.Capability, n)
	for _, index := range q.HasCapability {
		q.Capability[index] = float64(q.Queue.Capability.Get(int(index)))
	}
	copy(q.RealCapability, q.Capability)
	q.Ceiling = append(q.Ceiling[:0], q.Capability...)
	q.Share, q.Shared, q.flat, q.all, q.Named = 0, false, false, false, q.Named[:0]
	q.Warnings, q.Refused = q.ownWarnings(resources), false
}

// own gives an inner queue sums separate from its own gangs' sums.
func (q *Queue) own(n int) {
	if cap(q.totals) < 7*n {
		q.totals = make([]float64, 7*n)
	}
	part := func(i int, from []float64) []float64 {
		to := q.totals[i*n : (i+1)*n : (i+1)*n]
		copy(to, from)
		return to
	}
	q.Sums = Sums{
		Allocated: part(0, q.Own.Allocated), Request: part(1, q.Own.Request), Inqueue: part(2, q.Own.Inqueue), Elastic: part(3, q.Own.Elastic),
		Occupied: part(4, q.Own.Occupied), Ending: part(5, q.Own.Ending), Lingering: part(6, q.Own.Lingering),
	}
}

func (s *Sums) add(o *Sums) {
	for i := range s.Allocated {
		s.Allocated[i] += o.Allocated[i]
		s.Request[i] += o.Request[i]
		s.Inqueue[i] += o.Inqueue[i]
		s.Elastic[i] += o.Elastic[i]
		s.Occupied[i] += o.Occupied[i]
		s.Ending[i] += o.Ending[i]
		s.Lingering[i] += o.Lingering[i]
	}
}

func load(v []float64, from model.Vec, n int) []float64 {
	if cap(v) < n {
		v = make([]float64, n)
	}
	v = v[:n]
	for i := range v {
		v[i] = float64(from.Get(i))
	}
	return v
}

func fill(v []float64, n int) []float64 {
	if cap(v) < n {
		v = make([]float64, n)
	}
	v = v[:n]
	for i := range v {
		v[i] = math.Inf(1)
	}
	return v
}

// Hold adds sign×request to the allocation of the queue and its ancestors and updates their shares.
func (q *Queue) Hold(r model.Request, sign float64) {
	if !q.Leaf() {
		add(q.Own.Allocated, r, sign)
	}
	for p := q; p != nil; p = p.Parent {
		add(p.Allocated, r, sign)
		if p.Shared {
			p.Share = p.share()
		}
	}
}

// Occupy adds sign×request to the resources occupied on nodes, for the queue and its ancestors.
func (q *Queue) Occupy(r model.Request, sign float64) {
	if !q.Leaf() {
		add(q.Own.Occupied, r, sign)
	}
	for p := q; p != nil; p = p.Parent {
		add(p.Occupied, r, sign)
	}
}

// Vacate makes the queue hold nothing until the returned function is called.
func (q *Queue) Vacate() (undo func()) {
	all, own, share := q.Sums, q.Own, q.Share
	n := len(q.Allocated)
	none := make([]float64, 5*n)
	part := func(i int) []float64 { return none[i*n : (i+1)*n : (i+1)*n] }
	q.Own.Allocated, q.Own.Occupied, q.Own.Ending, q.Own.Lingering = part(0), part(1), part(2), part(2)
	q.Allocated, q.Occupied, q.Ending, q.Lingering = part(0), part(1), part(2), part(2)
	if !q.Leaf() {
		q.Allocated, q.Occupied = part(3), part(4)
	}
	if q.Shared {
		q.Share = q.share()
	}
	return func() { q.Sums, q.Own, q.Share = all, own, share }
}

// AddRequest adds sign×request to the requests of the queue and its ancestors.
func (q *Queue) AddRequest(r model.Request, sign float64) {
	if !q.Leaf() {
		add(q.Own.Request, r, sign)
	}
	for p := q; p != nil; p = p.Parent {
		add(p.Request, r, sign)
	}
}

// Promise adds sign×request to the reservations for admitted gangs in the queue and its ancestors.
func (q *Queue) Promise(r model.Request, sign float64) {
	if !q.Leaf() {
		add(q.Own.Inqueue, r, sign)
	}
	for p := q; p != nil; p = p.Parent {
		add(p.Inqueue, r, sign)
	}
}

func add(v []float64, r model.Request, sign float64) {
	for _, t := range r {
		v[t.Index] += sign * float64(t.Value)
	}
}

// SetShare marks Deserved as set and computes Share from the queue's own allocation, over all resources. Policies
// without a queue tree use it.
func (q *Queue) SetShare() {
	q.Shared, q.flat, q.all = true, true, true
	q.Share = q.share()
}

// SetNamedShare is like SetShare, but counts only the resources in Named. Without named resources the share is
// always 1. If flat is true, descendants do not count.
func (q *Queue) SetNamedShare(flat bool) {
	q.Shared, q.flat, q.all = true, flat, false
	q.Share = q.share()
}

// Held returns the amounts that count as held in Share.
func (q *Queue) Held() []float64 {
	if q.flat {
		return q.Own.Allocated
	}
	return q.Allocated
}

func (q *Queue) share() float64 {
	held := q.Held()
	share, some := 0.0, q.all
	for i, d := range q.Deserved {
		if i == model.Pods || !q.all && !q.Named[i] {
			continue
		}
		some = true
		switch {
		case d > Epsilon:
			share = max(share, held[i]/d)
		case held[i] > Epsilon:
			share = max(share, 1)
		}
	}
	if !some {
		return 1
	}
	return share
}

// Over returns the first resource, by name, for which held+asked exceeds a limit; -1 if no limit is exceeded. Only
// requested resources are checked.
func Over(resources *model.Resources, held []float64, asked model.Request, limit []float64) (index int) {
	return over(resources, asked, limit, func(i int) float64 { return held[i] })
}

func over(resources *model.Resources, asked model.Request, limit []float64, held func(int) float64) (index int) {
	index = -1
	for _, t := range asked {
		i := int(t.Index)
		if held(i)+float64(t.Value) > limit[i]+Epsilon && (index < 0 || resources.Name(i) < resources.Name(index)) {
			index = i
		}
	}
	return index
}

// OverCapability returns the first resource, by name, for which asked plus what the sums hold, including lingering
// pods, exceeds the capability; -1 if no resource does.
func (s *Sums) OverCapability(resources *model.Resources, asked model.Request, capability []float64) (index int) {
	return over(resources, asked, capability, func(i int) float64 { return s.Allocated[i] + s.Lingering[i] })
}

// OverCapabilityNow returns the first resource, by name, for which asked plus what pods hold on nodes until they
// end exceeds the capability; -1 if no resource does.
func (s *Sums) OverCapabilityNow(resources *model.Resources, asked model.Request, capability []float64) (index int) {
	return over(resources, asked, capability, func(i int) float64 { return s.Occupied[i] })
}

// Under returns a resource for which held, without the requests of some tasks, would be less than a minimum; -1 if
// no resource would. Only resources that the tasks hold are checked.
func Under(held []float64, tasks []*model.Task, minimum model.Request) (index int) {
	for _, floor := range minimum {
		lost := 0.0
		for _, t := range tasks {
			lost += float64(t.Shape.Request.Get(int(floor.Index)))
		}
		if lost > 0 && held[floor.Index]-lost < float64(floor.Value)-Epsilon {
			return int(floor.Index)
		}
	}
	return -1
}
