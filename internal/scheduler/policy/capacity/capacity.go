// Package capacity gives every queue its own amounts: the resources that it deserves, that are guaranteed to it, and
// that it can use at most. Queues are flat, or form a tree in which the limits of every level apply.
//
//	In:   deserved, guarantee, capability and parents of queues, and the resources that they hold
//	Out:  Deserved, RealCapability, Ceiling and Warnings per queue; rules QueueOrder, VictimQueueOrder, Allocatable,
//	      Enqueueable, Preemptive, JobValid, an entitlement to reclaim, a guard that protects guarantees
//
// # Invariants
//
//   - The scheduler never lets a queue exceed its real capability, at any level. Pods count against a capability
//     until they have ended.
//   - Resources that are guaranteed to a queue, at any level, are never held by other queues, provided that they are on
//     nodes that queues can use.
//   - A queue takes resources from other queues only up to its deserved amounts, for all resources that these amounts
//     name. A queue loses only resources beyond its own deserved amounts. Resources that were taken are not taken back.
//   - Gangs in a queue that has no valid position in the tree cannot start. Other queues are not affected.
//
// # Concurrency
//
// A Policy keeps only caches between cycles.
package capacity

import (
	"cmp"
	"strings"

	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
	"github.com/vc-batch/vc/internal/scheduler/usable"
)

// reclaimLevel is the argument that limits how many ancestors of a queue are considered when it takes or loses
// resources.
const reclaimLevel = "ancestorReclaimLevel"

// devices lists the arguments for quotas of device classes, which are not supported.
var devices = []string{"capacity.DynamicResourceAllocationEnable", "capacity.DRAConsumableCapacityEnable"}

// Policy implements the capacity policy.
type Policy struct {
	conf   config.Plugin
	usable usable.Capacity
	tree   bool
	levels int
}

// New returns the policy.
func New(conf config.Plugin, warn func(string)) *Policy {
	for _, key := range devices {
		if _, given := conf.Arguments[key]; given && warn != nil {
			warn("argument " + key + ": quotas of device classes are not supported; limit the devices' extended resource instead")
		}
	}
	return &Policy{conf: conf, tree: conf.Enabled("enableHierarchy"), levels: max(conf.Arguments.Int(reclaimLevel, 0, warn), 0)}
}

// Name returns "capacity".
func (*Policy) Name() string { return "capacity" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open sets the amounts that each queue deserves and can use, and registers the rules.
func (p *Policy) Open(s *session.Session) {
	rules := &rules{resources: s.Cluster.Resources, ledger: s.Ledger, lapsed: s.Lapsed, tree: p.tree, levels: p.levels}
	p.usable.DivideUsable(s, func() { setQueueShares(s.Ledger, p.tree) })
	recordContradictions(s.Ledger, s.Cluster.Resources, p.tree)
	r := &s.Rules
	r.ShareMoves = r.ShareMoves || p.tree
	if p.tree {
		r.JobValid = append(r.JobValid, func(j *framework.Job) verdict { return rules.checkPosition(j.In) })
	}
	if p.conf.Enabled("enableQueueOrder") {
		r.QueueOrder = append(r.QueueOrder, rules.compareQueues)
	}
	if p.tree {
		r.VictimQueueOrder = append(r.VictimQueueOrder, compareNearestFirst)
	}
	if p.conf.Enabled("enabledAllocatable") {
		r.Allocatable = append(r.Allocatable, rules.checkAllocation)
		r.Startable = append(r.Startable, rules.checkStart)
	}
	if p.conf.Enabled("enableJobEnqueued") {
		r.Vote(rules.voteOnAdmission)
		r.Enqueued = append(r.Enqueued, func(j *framework.Job) { j.In.AddInqueue(j.MinResources, 1) })
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
	resources *resource.Names
	ledger    *queue.Ledger
	// lapsed returns the amounts reserved in a queue by gangs that could not start even on an empty cluster.
	lapsed func(*queue.Queue) []float64
	tree   bool
	levels int
}

// visitAncestry calls visit for the queue and, in a tree, for each of its ancestors, until visit returns false.
func (r *rules) visitAncestry(q *queue.Queue, visit func(*queue.Queue) bool) {
	for p := q; p != nil && visit(p); p = p.Parent {
		if !r.tree {
			return
		}
	}
}

// effectiveSums returns the sums that count for the queue. In a tree, they include the queue's descendants; otherwise,
// they cover only the queue itself.
func (r *rules) effectiveSums(q *queue.Queue) *queue.Sums {
	if r.tree {
		return &q.Sums
	}
	return &q.Own
}

// compareQueues orders queues: higher priority first, then leaves before inner queues, then the queue that uses the
// smaller fraction of its deserved amounts. This fraction is compared at the level where the paths to the two queues
// diverge. If it is equal, queues that deserve something come before queues that deserve nothing.
func (r *rules) compareQueues(a, b *queue.Queue) int {
	if c := cmp.Compare(b.Priority, a.Priority); c != 0 {
		return c
	}
	x, y := a, b
	if r.tree {
		if c := compareTrueFirst(a.IsLeaf(), b.IsLeaf()); c != 0 {
			return c
		}
		x, y = queue.DivergingAncestors(a, b)
	}
	if c := cmp.Or(cmp.Compare(x.Share, y.Share), compareTrueFirst(deservesAnything(x), deservesAnything(y))); c != 0 || x == y {
		return c
	}
	// If the two ancestors are equal so far, all queues below one of them must come before all queues below the other,
	// because otherwise the order of three queues could be cyclic.
	return cmp.Or(x.Created.Compare(y.Created), strings.Compare(x.Name, y.Name))
}

// compareTrueFirst compares booleans and sorts true before false.
func compareTrueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func deservesAnything(q *queue.Queue) bool {
	for i, d := range q.Deserved {
		if q.Named[i] && d > queue.Epsilon {
			return true
		}
	}
	return false
}

// compareNearestFirst orders queues so that the queue whose common ancestor with the taker is deeper comes first and
// therefore loses resources first.
func compareNearestFirst(taker, a, b *queue.Queue) int {
	return cmp.Compare(queue.CommonLevel(taker, b), queue.CommonLevel(taker, a))
}
