// Package queue tracks, during a cycle, the resources that every queue holds, requests and deserves, and the tree
// that the queues form.
//
//	In:   the model's totals and parents of queues
//	Out:  Ledger, updated with the placements of the cycle and rolled back with them
//
// Amounts are float64 values in the model's units, because computing shares divides them. Whole numbers up to 2^53
// are exact; larger numbers have 16 digits. The number of pods matters only where a capability names it, so it does
// not limit other queues.
//
// # Invariants
//
//   - Resources that a queue holds always count in all its ancestors too.
//   - A queue with an invalid position in the tree has a Fault and no parent. It and its descendants are isolated,
//     and other queues are not affected.
//
// # Concurrency
//
// Each engine has its own Ledger.
package queue

import (
	"math"
	"slices"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
)

// Epsilon is the maximum difference between two amounts that count as equal.
const Epsilon = 0.1

// Sums holds the resources that gangs hold and request, by resource index.
type Sums struct {
	Allocated, Request, Inqueue, Elastic []float64
	// Occupied is the amount that pods occupy on nodes until they end. It is Allocated without the promised part,
	// plus the amount occupied by pods that are being deleted.
	Occupied []float64
	// Ending is the part of Occupied that belongs to pods that are being deleted or whose end is unknown. Lingering
	// is the part that belongs to pods whose end is unknown.
	Ending, Lingering []float64
	// Reserved is the part of Allocated that no pod holds, because it is held for the recovery of lost pods.
	Reserved []float64
}

// Queue is the state of a queue during a cycle. All vectors are indexed by resource and have the same length.
type Queue struct {
	*model.Queue
	// Parent is nil for a queue at the top. Children are sorted by name.
	Parent   *Queue
	Children []*Queue
	// Known, Open and Gangs are copies of the model's values, so that a simulation can change them without changing
	// the model.
	Known, Open bool
	Gangs       int
	// Level is the number of ancestors.
	Level int
	// Fault describes why the queue has no valid position in the tree; "" if its position is valid.
	Fault string
	// Warnings describe contradictions in the queue's spec and, if its policy checks this, between the specs of the
	// queue and its parent. The same queues always yield the same order.
	Warnings []string

	// The embedded Sums include the gangs of all descendants. Own includes only the queue's own gangs.
	Sums
	Own Sums
	// Deserved is the amount that the queue may hold, can reclaim from others, and need not give back. It is set by
	// the policy that computes shares.
	Deserved []float64
	// Entitled is the amount that the queue can rely on, however full the cluster is: its share if it requested
	// enough. It is set by the policy that computes shares.
	Entitled []float64
	// RealCapability is the maximum amount that the queue can ever hold; +Inf if unlimited.
	RealCapability []float64
	// Ceiling is like RealCapability, but does not depend on the cluster's current capacity.
	Ceiling []float64
	// Capability is spec.capability; +Inf for resources that the spec does not name.
	Capability []float64
	// Share is the largest used fraction of Deserved over all resources; 1 means that all of it is used.
	Share float64
	// Shared is true if a policy set Deserved.
	Shared bool
	// Refused is true if a limit of the queue rejected a gang in this cycle, either a gang of the queue itself or of
	// a descendant.
	Refused bool

	// Named marks the resources that spec.deserved names. Only SetNamedShare uses it.
	Named []bool

	// flat is true if Share counts only the resources that the queue's own gangs hold.
	flat bool
	// all is true if every resource counts in Share, even if spec.deserved does not name it.
	all            bool
	totals         []float64
	contradictions contradictionCache
}

// AcceptsGangs reports whether the queue exists and is open.
func (q *Queue) AcceptsGangs() bool { return q.Known && q.Open }

// Grows reports whether the cluster grows with the queue's pending gangs. Such gangs are admitted up to the queue's
// own limits.
func (q *Queue) Grows() bool { return q.Annotations[keys.ElasticCluster] == "true" }

// Ledger holds all queues that exist or have gangs, sorted by name.
type Ledger struct {
	Queues []*Queue
	// TopDown lists the same queues, with parents before their children.
	TopDown []*Queue
	// Total is the capacity of the cluster. Usable is the part of it that pods of queues can use, considering taints,
	// cordons and pods outside of queues. Policies divide Usable among queues. Usable equals Total unless a policy
	// changes it.
	Total, Usable []float64
	// Division identifies the current division of the cluster. Equal numbers mean equal shares, including shares that
	// were restored after a simulation.
	Division  uint64
	divisions uint64

	byModel map[*model.Queue]*Queue
	sorted  []*model.Queue
	setGen  uint64
}

// Open loads the current amounts and queues from the model.
func (l *Ledger) Open(c *model.Cluster) {
	n := c.Resources.Len()
	if l.byModel == nil || l.setGen != c.QueueSetGen || len(l.Queues) != len(c.Queues) {
		l.collectQueues(c)
		l.arrangeTree()
		l.setGen = c.QueueSetGen
	}
	l.Total = loadAmounts(l.Total, c.Total, n)
	l.Usable = append(l.Usable[:0], l.Total...)
	for _, q := range l.Queues {
		q.loadSums(n, c.Resources)
	}
	for i := len(l.TopDown) - 1; i >= 0; i-- {
		if q := l.TopDown[i]; q.Parent != nil {
			q.Parent.Sums.addAmounts(&q.Sums)
		}
	}
}

// shares holds the values that policies compute for a queue.
type shares struct {
	deserved, entitled, realCapability, ceiling []float64
	share                                       float64
}

// SaveShares returns a function that restores Usable and the queues' shares and limits.
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

// ClearShares resets the queues' shares and limits to the initial values for policies.
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

// collectQueues updates the list of queues from the model, reusing existing entries.
func (l *Ledger) collectQueues(c *model.Cluster) {
	l.sorted = c.SortedQueues(l.sorted)
	old := l.byModel
	l.byModel = make(map[*model.Queue]*Queue, len(l.sorted))
	l.Queues = l.Queues[:0]
	for _, q := range l.sorted {
		mine := old[q]
		if mine == nil {
			mine = &Queue{Queue: q}
		}
		mine.Known, mine.Open = q.Known, q.Open
		l.byModel[q] = mine
		l.Queues = append(l.Queues, mine)
	}
}

// Of returns the ledger's entry for a queue of the model.
func (l *Ledger) Of(q *model.Queue) *Queue { return l.byModel[q] }

func (q *Queue) loadSums(n int, resources *resource.Names) {
	from := &q.Queue.Sums
	q.Gangs = q.Queue.Gangs
	q.Own.Allocated = loadAmounts(q.Own.Allocated, from.Allocated, n)
	q.Own.Inqueue = loadAmounts(q.Own.Inqueue, from.Inqueue, n)
	q.Own.Elastic = loadAmounts(q.Own.Elastic, from.Elastic, n)
	q.Own.Request = loadAmounts(q.Own.Request, from.Pending, n)
	q.Own.Lingering = loadAmounts(q.Own.Lingering, from.Lingering, n)
	q.Own.Ending = loadAmounts(q.Own.Ending, from.Leaving, n)
	q.Own.Occupied = loadAmounts(q.Own.Occupied, nil, n)
	q.Own.Reserved = loadAmounts(q.Own.Reserved, nil, n)
	for i, v := range q.Own.Allocated {
		q.Own.Request[i] += v
		q.Own.Ending[i] += q.Own.Lingering[i]
		q.Own.Occupied[i] = v - float64(from.Promised.Get(i)) + q.Own.Ending[i]
	}
	if q.IsLeaf() { // for a leaf, Own and Sums are the same
		q.Sums = q.Own
	} else {
		q.splitOwnSums(n)
	}
	q.Deserved = loadAmounts(q.Deserved, nil, n)
	q.Entitled = loadAmounts(q.Entitled, nil, n)
	q.RealCapability = fillUnlimited(q.RealCapability, n)
	q.Capability = fillUnlimited(q.Capability, n)
	for _, index := range q.HasCapability {
		q.Capability[index] = float64(q.Queue.Capability.Get(int(index)))
	}
	copy(q.RealCapability, q.Capability)
	q.Ceiling = append(q.Ceiling[:0], q.Capability...)
	q.Share, q.Shared, q.flat, q.all, q.Named = 0, false, false, false, q.Named[:0]
	q.Warnings, q.Refused = q.cachedWarnings(resources), false
}

// splitOwnSums allocates sums for an inner queue's own gangs, separate from the sums that include its descendants.
func (q *Queue) splitOwnSums(n int) {
	if cap(q.totals) < 8*n {
		q.totals = make([]float64, 8*n)
	}
	part := func(i int, from []float64) []float64 {
		to := q.totals[i*n : (i+1)*n : (i+1)*n]
		copy(to, from)
		return to
	}
	q.Sums = Sums{
		Allocated: part(0, q.Own.Allocated), Request: part(1, q.Own.Request), Inqueue: part(2, q.Own.Inqueue), Elastic: part(3, q.Own.Elastic),
		Occupied: part(4, q.Own.Occupied), Ending: part(5, q.Own.Ending), Lingering: part(6, q.Own.Lingering),
		Reserved: part(7, q.Own.Reserved),
	}
}

func (s *Sums) addAmounts(o *Sums) {
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

func loadAmounts(v []float64, from resource.Vec, n int) []float64 {
	if cap(v) < n {
		v = make([]float64, n)
	}
	v = v[:n]
	for i := range v {
		v[i] = float64(from.Get(i))
	}
	return v
}

func fillUnlimited(v []float64, n int) []float64 {
	if cap(v) < n {
		v = make([]float64, n)
	}
	v = v[:n]
	for i := range v {
		v[i] = math.Inf(1)
	}
	return v
}

// AddAllocated adds a request, multiplied by sign, to the allocation of the queue and its ancestors, and updates their
// shares.
func (q *Queue) AddAllocated(r resource.Request, sign float64) {
	if !q.IsLeaf() {
		addRequest(q.Own.Allocated, r, sign)
	}
	for p := q; p != nil; p = p.Parent {
		addRequest(p.Allocated, r, sign)
		if p.Shared {
			p.Share = p.computeShare()
		}
	}
}

// AddReserved adds a request, multiplied by sign, to the allocation of the queue and its ancestors although no pod holds
// it.
func (q *Queue) AddReserved(r resource.Request, sign float64) {
	if !q.IsLeaf() {
		addRequest(q.Own.Reserved, r, sign)
	}
	for p := q; p != nil; p = p.Parent {
		addRequest(p.Reserved, r, sign)
	}
	q.AddAllocated(r, sign)
}

// AddOccupied adds a request, multiplied by sign, to the resources that the queue and its ancestors occupy on nodes.
func (q *Queue) AddOccupied(r resource.Request, sign float64) {
	if !q.IsLeaf() {
		addRequest(q.Own.Occupied, r, sign)
	}
	for p := q; p != nil; p = p.Parent {
		addRequest(p.Occupied, r, sign)
	}
}

// SimulateEmpty makes the queue hold no resources until the returned function is called.
func (q *Queue) SimulateEmpty() (undo func()) {
	all, own, share := q.Sums, q.Own, q.Share
	n := len(q.Allocated)
	none := make([]float64, 5*n)
	part := func(i int) []float64 { return none[i*n : (i+1)*n : (i+1)*n] }
	q.Own.Allocated, q.Own.Occupied, q.Own.Ending, q.Own.Lingering = part(0), part(1), part(2), part(2)
	q.Allocated, q.Occupied, q.Ending, q.Lingering = part(0), part(1), part(2), part(2)
	if !q.IsLeaf() {
		q.Allocated, q.Occupied = part(3), part(4)
	}
	if q.Shared {
		q.Share = q.computeShare()
	}
	return func() { q.Sums, q.Own, q.Share = all, own, share }
}

// AddRequest adds a request, multiplied by sign, to the requests of the queue and its ancestors.
func (q *Queue) AddRequest(r resource.Request, sign float64) {
	if !q.IsLeaf() {
		addRequest(q.Own.Request, r, sign)
	}
	for p := q; p != nil; p = p.Parent {
		addRequest(p.Request, r, sign)
	}
}

// AddInqueue adds a request, multiplied by sign, to the amounts that the queue and its ancestors reserve for admitted
// gangs.
func (q *Queue) AddInqueue(r resource.Request, sign float64) {
	if !q.IsLeaf() {
		addRequest(q.Own.Inqueue, r, sign)
	}
	for p := q; p != nil; p = p.Parent {
		addRequest(p.Inqueue, r, sign)
	}
}

func addRequest(v []float64, r resource.Request, sign float64) {
	for _, t := range r {
		v[t.Index] += sign * float64(t.Value)
	}
}

// SetShare marks Deserved as set and computes Share from the queue's own allocation, over all resources. It is used
// by policies that have no tree of queues.
func (q *Queue) SetShare() {
	q.Shared, q.flat, q.all = true, true, true
	q.Share = q.computeShare()
}

// SetNamedShare is like SetShare, but counts only the resources in Named. Without named resources, the share is
// always 1. If flat is true, descendants are not counted.
func (q *Queue) SetNamedShare(flat bool) {
	q.Shared, q.flat, q.all = true, flat, false
	q.Share = q.computeShare()
}

// ShareAmounts returns the amounts that Share is based on.
func (q *Queue) ShareAmounts() []float64 {
	if q.flat {
		return q.Own.Allocated
	}
	return q.Allocated
}

func (q *Queue) computeShare() float64 {
	held := q.ShareAmounts()
	share, some := 0.0, q.all
	for i, d := range q.Deserved {
		if i == resource.Pods || (!q.all && !q.Named[i]) {
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

// FindExceeded returns the first resource, by name, for which held+asked exceeds the limit; -1 if no limit is exceeded.
// It checks only requested resources.
func FindExceeded(resources *resource.Names, held []float64, asked resource.Request, limit []float64) (index int) {
	return findExceededBy(resources, asked, limit, func(i int) float64 { return held[i] })
}

func findExceededBy(resources *resource.Names, asked resource.Request, limit []float64, held func(int) float64) (index int) {
	index = -1
	for _, t := range asked {
		i := int(t.Index)
		if held(i)+float64(t.Value) > limit[i]+Epsilon && (index < 0 || resources.Name(i) < resources.Name(index)) {
			index = i
		}
	}
	return index
}

// OverCapability returns the first resource, by name, for which asked plus the allocated amount, including lingering
// pods, exceeds the capability; -1 if none exists.
func (s *Sums) OverCapability(resources *resource.Names, asked resource.Request, capability []float64) (index int) {
	return findExceededBy(resources, asked, capability, func(i int) float64 { return s.Allocated[i] + s.Lingering[i] })
}

// OverCapabilityNow returns the first resource, by name, for which asked plus the amount that pods occupy until they
// end exceeds the capability; -1 if none exists.
func (s *Sums) OverCapabilityNow(resources *resource.Names, asked resource.Request, capability []float64) (index int) {
	return findExceededBy(resources, asked, capability, func(i int) float64 { return s.Occupied[i] })
}

// FindShortfall returns the index of a resource whose use by pods would fall below a minimum if the tasks ended; -1 if none
// exists. It checks only resources that the tasks use. Capacity that is held for the recovery of lost pods does not count,
// because the gang that has lost them may be among the tasks.
func (s *Sums) FindShortfall(tasks []*model.Task, minimum resource.Request) (index int) {
	for _, floor := range minimum {
		lost := 0.0
		for _, t := range tasks {
			lost += float64(t.Shape.Request.Get(int(floor.Index)))
		}
		rest := s.Allocated[floor.Index] - s.Reserved[floor.Index] - lost
		if lost > 0 && rest < float64(floor.Value)-Epsilon {
			return int(floor.Index)
		}
	}
	return -1
}
