// Package capacity gives every queue amounts of its own: what it deserves, what
// is guaranteed to it, what it can ever have; flat, or in a tree whose every
// level counts.
//
//	In:   deserved, guarantee, capability and parents of queues, what they hold
//	Out:  Deserved, RealCapability, Ceiling and Warnings per queue; rules QueueOrder, VictimQueueOrder, Allocatable,
//	      Enqueueable, Preemptive, JobValid, an entitlement to reclaim, a guard of guarantees
//
// # Invariants
//
//   - No queue holds more than its real capability by what is admitted here, at any level. Pods count against a
//     capability until they have ended.
//   - What is guaranteed to a queue no other can hold, at any level, of what queues can use of the nodes.
//   - A queue takes from others only to come up to what it deserves of all that its deserved names, and loses only
//     what exceeds its own: what was taken is not taken back.
//   - A queue with no valid place in the tree keeps its own gangs waiting, and nobody else's.
//
// # Concurrency
//
// A Policy keeps nothing between cycles.
package capacity

import (
	"cmp"
	"strings"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// reclaimLevel is how many ancestors of a queue have a say in what it may take and lose.
const reclaimLevel = "ancestorReclaimLevel"

// devices are arguments about quotas of device classes, which there are none of.
var devices = []string{"capacity.DynamicResourceAllocationEnable", "capacity.DRAConsumableCapacityEnable"}

// Policy is the policy capacity.
type Policy struct {
	conf   config.Plugin
	usable session.UsableCapacity
	tree   bool
	levels int
}

// New returns the policy.
func New(conf config.Plugin, warn func(string)) *Policy {
	for _, key := range devices {
		if _, given := conf.Arguments[key]; given && warn != nil {
			warn("argument " + key + ": quotas of device classes are not counted, whatever it says; limit the devices' extended resource instead")
		}
	}
	return &Policy{conf: conf, tree: conf.Enabled("enableHierarchy"), levels: max(conf.Arguments.Int(reclaimLevel, 0, warn), 0)}
}

// Name is capacity.
func (*Policy) Name() string { return "capacity" }

// Reads says which switches and arguments have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open says what each queue deserves and may have, and registers the rules.
func (p *Policy) Open(s *session.Session) {
	rules := &rules{resources: s.Cluster.Resources, ledger: s.Ledger, lapsed: s.Lapsed, tree: p.tree, levels: p.levels}
	s.Ledger.Usable = p.usable.Sum(s, s.Ledger.Usable)
	share(s.Ledger, p.tree)
	warnings(s.Ledger, s.Cluster.Resources, p.tree)
	r := &s.Rules
	r.ShareMoves = r.ShareMoves || p.tree
	if p.tree {
		r.JobValid = append(r.JobValid, func(j *session.Job) verdict { return rules.placed(j.In) })
	}
	if p.conf.Enabled("enableQueueOrder") {
		r.QueueOrder = append(r.QueueOrder, rules.order)
	}
	if p.tree {
		r.VictimQueueOrder = append(r.VictimQueueOrder, nearestFirst)
	}
	if p.conf.Enabled("enabledAllocatable") {
		r.Allocatable = append(r.Allocatable, rules.allocatable)
		r.Startable = append(r.Startable, rules.startable)
	}
	if p.conf.Enabled("enableJobEnqueued") {
		r.Vote(rules.enqueueable)
		r.Enqueued = append(r.Enqueued, func(j *session.Job) { j.In.Promise(j.MinResources, 1) })
	}
	if p.conf.Enabled("enablePreemptive") {
		r.Preemptive = append(r.Preemptive, rules.preemptive)
	}
	if p.conf.Enabled("enableReclaimable") {
		r.Entitle(rules.entitle, session.Reclaim, session.GangReclaim)
	}
	r.Guard(rules.guard)
}

type rules struct {
	resources *model.Resources
	ledger    *queue.Ledger
	// lapsed is what gangs that could not start whatever ended have reserved in a queue.
	lapsed func(*queue.Queue) []float64
	tree   bool
	levels int
}

// chain calls visit for the queue and, in a tree, its ancestors, until it returns false.
func (r *rules) chain(q *queue.Queue, visit func(*queue.Queue) bool) {
	for p := q; p != nil && visit(p); p = p.Parent {
		if !r.tree {
			return
		}
	}
}

// sums are what counts as the queue's.
func (r *rules) sums(q *queue.Queue) *queue.Sums {
	if r.tree {
		return &q.Sums
	}
	return &q.Own
}

// order: higher priority, then leaves, then who has the smaller part of what it
// deserves, where the ways to the queues part; those that deserve something before
// the others.
func (r *rules) order(a, b *queue.Queue) int {
	if c := cmp.Compare(b.Priority, a.Priority); c != 0 {
		return c
	}
	x, y := a, b
	if r.tree {
		if c := before(a.Leaf(), b.Leaf()); c != 0 {
			return c
		}
		x, y = queue.Apart(a, b)
	}
	if c := cmp.Or(cmp.Compare(x.Share, y.Share), before(deserving(x), deserving(y))); c != 0 || x == y {
		return c
	}
	// Equal so far: all below the one go before all below the other, else a ring of
	// three queues could each be before the next.
	return cmp.Or(x.Created.Compare(y.Created), strings.Compare(x.Name, y.Name))
}

// before sorts true before false.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func deserving(q *queue.Queue) bool {
	for i, d := range q.Deserved {
		if q.Named[i] && d > queue.Epsilon {
			return true
		}
	}
	return false
}

// nearestFirst lets queues lose first that have a deeper ancestor in common with the taker.
func nearestFirst(taker, a, b *queue.Queue) int {
	return cmp.Compare(queue.CommonLevel(taker, b), queue.CommonLevel(taker, a))
}
