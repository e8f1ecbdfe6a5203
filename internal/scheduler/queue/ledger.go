// Package queue is whose turn it is: what every queue holds, asks for and
// deserves, during one cycle, and how queues hang together.
//
//	In:   the model's queue sums and parents
//	Out:  Ledger, changed along with what the cycle places, and undone with it
//
// Amounts are float64 in the model's units, as shares divide them; whole
// numbers up to 2^53 stay exact, larger ones to 16 digits. The number of pods
// takes part only where a capability names it: a queue shall not be held back by
// counting its pods.
//
// # Invariants
//
//   - What a queue holds counts in all its ancestors, at every moment.
//   - A queue whose place in the tree is wrong has a Fault and no parent: it and what is below it stand alone,
//     and no other queue is any different for it.
//
// # Concurrency
//
// A Ledger belongs to one engine.
package queue

import (
	"math"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
)

// Epsilon is what two amounts may differ by and still be equal.
const Epsilon = 0.1

// Sums are what gangs hold and ask for, by resource index.
type Sums struct {
	Allocated, Request, Inqueue, Elastic []float64
	// Occupied is what pods hold on nodes until they have ended: Allocated without what is only promised, and with
	// what pods hold that are being deleted.
	Occupied []float64
	// Ending is the part of Occupied that pods hold which are being deleted, or whose end is unknown. Lingering is
	// the latter.
	Ending, Lingering []float64
}

// Queue is a queue during a cycle. Vectors are by resource index, all of one
// length.
type Queue struct {
	*model.Queue
	// Parent is nil at the top. Children are by name.
	Parent   *Queue
	Children []*Queue
	// Level is the number of ancestors.
	Level int
	// Fault says why the queue has no place in the tree; "" when it has one.
	Fault string
	// Warnings say what of the queue contradicts itself, and, where its policy cares,
	// its parent; sorted as found, the same for the same queues.
	Warnings []string

	// Sums are the queue's own gangs and those of all its descendants; Own are its own only.
	Sums
	Own Sums
	// Deserved is what the queue may hold; set by the policy that shares.
	Deserved []float64
	// Due is what the queue gets back from others, and does not have to give back, where that is not Deserved: its part
	// of what pods of queues can use. Empty: Deserved.
	Due []float64
	// Entitled is what the queue may count on however full the cluster is: what it would deserve if it asked
	// for as much; set by the policy that shares.
	Entitled []float64
	// Attainable is what the queue would deserve if it asked for more now, while the others ask for what they do; empty: Entitled.
	Attainable []float64
	// RealCapability is the most it can ever hold; +Inf where nothing limits it.
	RealCapability []float64
	// Ceiling is RealCapability without regard to what the cluster has just now.
	Ceiling []float64
	// Capability is spec.capability; +Inf where it names nothing.
	Capability []float64
	// Share is the greatest part used of what is deserved, 1 = all of it.
	Share float64
	// Shared says that a policy set Deserved.
	Shared bool
	// Refused says that a limit of the queue kept a gang below it out, this cycle.
	Refused bool

	// Named are the resources that deserved says something of; empty: nobody told.
	Named []bool

	// flat: Share is of what the queue itself holds.
	flat bool
	// all: every resource counts in Share, whether named or not.
	all    bool
	totals []float64
	said   said
}

// Grows says whether the cluster grows with what waits in the queue: its gangs are let in up to its own limits.
func (q *Queue) Grows() bool { return q.Annotations[keys.ElasticCluster] == "true" }

// Ledger holds all queues that are known or have gangs, by name.
type Ledger struct {
	Queues []*Queue
	// TopDown are the same queues, parents before children.
	TopDown []*Queue
	// Total is what the cluster has.
	Total []float64

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
	for _, q := range l.Queues {
		q.open(n, c.Resources)
	}
	for i := len(l.TopDown) - 1; i >= 0; i-- {
		if q := l.TopDown[i]; q.Parent != nil {
			q.Parent.Sums.add(&q.Sums)
		}
	}
}

// collect takes the model's queues, keeping those that were known.
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

// Of returns the ledger's queue of a model queue.
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
	if q.Leaf() { // one and the same
		q.Sums = q.Own
	} else {
		q.own(n)
	}
	q.Deserved = load(q.Deserved, nil, n)
	q.Due = q.Due[:0]
	q.Entitled = load(q.Entitled, nil, n)
	q.Attainable = q.Attainable[:0]
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

// own gives an inner queue sums apart from those of its own gangs.
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

// GetsBack is what the queue gets back from others, and does not have to give back.
func (q *Queue) GetsBack() []float64 {
	if len(q.Due) > 0 {
		return q.Due
	}
	return q.Deserved
}

// Hold adds sign×request to what the queue and its ancestors hold and updates
// their shares.
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

// Occupy adds sign×request to what pods of the queue and its ancestors hold on nodes.
func (q *Queue) Occupy(r model.Request, sign float64) {
	if !q.Leaf() {
		add(q.Own.Occupied, r, sign)
	}
	for p := q; p != nil; p = p.Parent {
		add(p.Occupied, r, sign)
	}
}

// Vacate has the queue hold nothing, until what is returned is called.
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

// Promise adds sign×request to what is reserved in the queue and its ancestors
// for gangs that are let in.
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

// SetShare marks Deserved as set and computes Share, of what the queue itself
// holds and of all resources: for policies that know no tree.
func (q *Queue) SetShare() {
	q.Shared, q.flat, q.all = true, true, true
	q.Share = q.share()
}

// SetNamedShare is SetShare where only what Named says counts; a queue that
// names nothing has its full share always. flat: descendants do not count.
func (q *Queue) SetNamedShare(flat bool) {
	q.Shared, q.flat, q.all = true, flat, false
	q.Share = q.share()
}

// Held is what counts as held by the queue where Share is concerned.
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

// Over returns the first resource, by name, of which held+asked exceeds a limit,
// with the amounts. -1 when none does. Only what is asked for counts.
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

// OverCapability returns the first resource, by name, of which asked exceeds the capability beside what the sums
// hold and what lingers; -1 when none does.
func (s *Sums) OverCapability(resources *model.Resources, asked model.Request, capability []float64) (index int) {
	return over(resources, asked, capability, func(i int) float64 { return s.Allocated[i] + s.Lingering[i] })
}

// OverCapabilityNow returns the first resource, by name, of which asked exceeds the capability beside what pods
// hold on nodes until they have ended; -1 when none does.
func (s *Sums) OverCapabilityNow(resources *model.Resources, asked model.Request, capability []float64) (index int) {
	return over(resources, asked, capability, func(i int) float64 { return s.Occupied[i] })
}

// Under returns a resource of which held without what tasks hold would be less
// than a minimum; -1 when there is none. Only what the tasks hold counts.
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
