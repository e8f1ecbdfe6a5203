// Package queue is whose turn it is: what every queue holds, asks for and
// deserves, during one cycle.
//
//	In:   the model's queue sums
//	Out:  Ledger, changed along with what the cycle places, and undone with it
//
// Amounts are float64 in the model's units, as shares divide them; whole
// numbers up to 2^53 stay exact, larger ones to 16 digits. The number of pods
// takes part only where a capability names it: a queue shall not be held back by
// counting its pods.
//
// # Concurrency
//
// A Ledger belongs to one engine.
package queue

import (
	"math"

	"github.com/vc-batch/vc/internal/model"
)

// Epsilon is what two amounts may differ by and still be equal.
const Epsilon = 0.1

// Queue is a queue during a cycle. Vectors are by resource index, all of one
// length.
type Queue struct {
	*model.Queue
	Allocated, Request, Inqueue, Elastic []float64
	// Deserved is what the queue may hold; set by the policy that shares.
	Deserved []float64
	// RealCapability is the most it can ever hold; +Inf where nothing limits it.
	RealCapability []float64
	// Capability is spec.capability; +Inf where it names nothing.
	Capability []float64
	// Share is the greatest part used of what is deserved, 1 = all of it.
	Share float64
	// Shared says that a policy set Deserved.
	Shared bool
}

// Ledger holds all queues that are known or have gangs, by name.
type Ledger struct {
	Queues []*Queue
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
		l.setGen = c.QueueSetGen
	}
	l.Total = load(l.Total, c.Total, n)
	for _, q := range l.Queues {
		q.open(n)
	}
}

// Of returns the ledger's queue of a model queue.
func (l *Ledger) Of(q *model.Queue) *Queue { return l.byModel[q] }

func (q *Queue) open(n int) {
	q.Allocated = load(q.Allocated, q.Sums.Allocated, n)
	q.Inqueue = load(q.Inqueue, q.Sums.Inqueue, n)
	q.Elastic = load(q.Elastic, q.Sums.Elastic, n)
	q.Request = load(q.Request, q.Sums.Pending, n)
	for i, v := range q.Allocated {
		q.Request[i] += v
	}
	q.Deserved = load(q.Deserved, nil, n)
	q.RealCapability = fill(q.RealCapability, n)
	q.Capability = fill(q.Capability, n)
	for _, index := range q.HasCapability {
		q.Capability[index] = float64(q.Queue.Capability.Get(int(index)))
	}
	copy(q.RealCapability, q.Capability)
	q.Share, q.Shared = 0, false
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

// Hold adds sign×request to what the queue holds and updates its share.
func (q *Queue) Hold(r model.Request, sign float64) {
	for _, t := range r {
		q.Allocated[t.Index] += sign * float64(t.Value)
	}
	if q.Shared {
		q.Share = q.share()
	}
}

// SetShare marks Deserved as set and computes Share.
func (q *Queue) SetShare() {
	q.Shared = true
	q.Share = q.share()
}

func (q *Queue) share() float64 {
	share := 0.0
	for i, d := range q.Deserved {
		if i == model.Pods {
			continue
		}
		switch {
		case d > Epsilon:
			share = max(share, q.Allocated[i]/d)
		case q.Allocated[i] > Epsilon:
			share = max(share, 1)
		}
	}
	return share
}

// Over returns the first resource, by name, of which held+asked exceeds a limit,
// with the amounts. -1 when none does. Only what is asked for counts.
func Over(resources *model.Resources, held []float64, asked model.Request, limit []float64) (index int) {
	index = -1
	for _, t := range asked {
		i := int(t.Index)
		if held[i]+float64(t.Value) > limit[i]+Epsilon && (index < 0 || resources.Name(i) < resources.Name(index)) {
			index = i
		}
	}
	return index
}
