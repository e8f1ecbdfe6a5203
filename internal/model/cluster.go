package model

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"

	"github.com/vc-batch/vc/internal/model/numa"
	"github.com/vc-batch/vc/internal/model/quota"
	"github.com/vc-batch/vc/internal/model/resource"
)

// Cluster is the scheduler's view of the cluster. Read its fields, but change them only with Apply and the Assume…
// methods.
type Cluster struct {
	// DefaultQueue is the queue of gangs that do not name a queue.
	DefaultQueue string

	Resources *resource.Names
	Nodes     Nodes
	NodeCount int
	Total     resource.Vec // capacity of all live nodes, limited to MaxSum
	Shapes    []*Shape
	Gangs     map[string]*Gang          // by namespace/name, including unknown gangs
	Queues    map[string]*Queue         // by name, including unknown queues
	Numa      map[string]*numa.Topology // CPU topologies by node name, including unknown nodes

	HyperNodes map[string]*HyperNode // by name; Topology builds a tree from them

	// Namespaces maps the name of each existing namespace to its labels.
	Namespaces map[string]map[string]string
	// EstimateGen is the generation of the last change to a gang's estimated run time.
	EstimateGen uint64
	// NamespaceGen is the generation of the last change to Namespaces.
	NamespaceGen uint64

	// Budgets holds the PodDisruptionBudgets by namespace/name. BudgetGen is the generation of their last change.
	Budgets map[string]*Budget
	// Shuffled maps the name of a policy to the time when the policy last moved pods.
	Shuffled  map[string]time.Time
	BudgetGen uint64

	// Attachable holds the volumes and devices that pods attach.
	Attachable Attachable

	// QueueGateGen is the generation of the last change to a task that has or had the scheduling gate of its queue.
	QueueGateGen uint64

	// Quotas holds the ResourceQuotas by namespace. QuotaGen is the generation of their last change.
	Quotas   map[string][]quota.Quota
	QuotaGen uint64

	// Accounts is the tree of accounts with their users and limits, and the QOS. It is never nil and is replaced, not changed.
	// AccountGen is the generation of its last change.
	Accounts   *accountv1alpha1.Tree
	AccountGen uint64

	// Usage holds the usage of each account, as last decided or read.
	Usage map[Account]Usage
	// UsageGen is the generation of the last change to the set of accounts in Usage, or of the last load of saved
	// usage.
	UsageGen uint64

	// BudgetUsage holds the usage of the budgets of accounts, as last decided or read. BudgetUsageGen is the generation of
	// the last load of saved usage. EndedPods holds the pods that have ended since the last cycle.
	BudgetUsage    map[string]*BudgetUsage
	BudgetUsageGen uint64
	EndedPods      []EndedPod

	// TotalGen, NodeSetGen and QueueSetGen are the generations of the last changes to the total capacity, to the set of
	// nodes, and to the specs of queues.
	TotalGen, NodeSetGen, QueueSetGen uint64
	// ForeignGen is the generation of the last change to the resources held by pods without a gang.
	ForeignGen uint64

	tasks      map[types.UID]*Task
	taskNames  map[string]*Task
	gangUIDs   map[types.UID]*Gang
	shapes     map[string]*Shape
	freeShapes []int32
	classes    map[string]PriorityClassSet
	stale      []*Gang
	dead       []NodeID // rows that can be reused
	nodeLog    changeLog[NodeID]
	gangLog    changeLog[*Gang]
	gen        uint64
	total      resource.Balance // exact value of Total
	// topology is the tree, built from the HyperNodes at hyperGen and the nodes at topologyNodes.
	topology                *Topology
	hyperGen, topologyNodes uint64
	hyperSeen               uint64 // generation of the last change to a HyperNode's status
	topologyInfos           []nodeSeen
	loose                   map[*Task]bool // pods of this scheduler that have no node and name no PodGroup
	// leaving holds the pods that are being deleted and have not reached their deadline. lingering holds the pods
	// that are past it.
	leaving, lingering map[*Task]bool
	// bereft holds the gangs that have lost pods while they were running.
	bereft map[*Gang]bool
	// LingerGen is the generation of the last change to LingeringTasks.
	LingerGen uint64
	orphans   map[*Gang]bool // gangs that pods name, but that were unknown at the last check
	timed     int            // number of tasks and gangs with a known run time
	// queueGates counts the tasks that have or had the scheduling gate of their queue.
	queueGates int
	// accounts holds the accounts by name, and qos the QOS. accountsChanged is true if Accounts must be built again.
	accounts        map[string]*accountv1alpha1.Account
	qos             map[string]*accountv1alpha1.QOS
	accountsChanged bool
	// budgeted is true if any account has a budget.
	budgeted bool
	// undescribed is the number of pending gangs that have no pods yet, and whose pods no job describes.
	undescribed int
}

// New returns an empty cluster.
func New() *Cluster {
	c := &Cluster{
		DefaultQueue: "default",
		Resources:    resource.NewNames(),
		Gangs:        map[string]*Gang{},
		Queues:       map[string]*Queue{},
		Numa:         map[string]*numa.Topology{},
		HyperNodes:   map[string]*HyperNode{},
		Namespaces:   map[string]map[string]string{},
		Budgets:      map[string]*Budget{},
		Accounts:     accountv1alpha1.NewTree(nil),
		accounts:     map[string]*accountv1alpha1.Account{},
		qos:          map[string]*accountv1alpha1.QOS{},
		tasks:        map[types.UID]*Task{},
		loose:        map[*Task]bool{},
		leaving:      map[*Task]bool{},
		bereft:       map[*Gang]bool{},
		lingering:    map[*Task]bool{},
		orphans:      map[*Gang]bool{},
		taskNames:    map[string]*Task{},
		gangUIDs:     map[types.UID]*Gang{},
		shapes:       map[string]*Shape{},
		classes:      map[string]PriorityClassSet{},
	}
	c.Nodes.byName = map[string]NodeID{}
	c.Attachable = newAttachable()
	c.Nodes.Stride = 8
	return c
}

// Apply applies changes in order.
func (c *Cluster) Apply(deltas ...Delta) {
	for _, d := range deltas {
		d.apply(c)
	}
	c.refreshAccounts()
	c.refreshQueues()
}

// Task returns the pod with the given UID.
func (c *Cluster) Task(uid types.UID) *Task { return c.tasks[uid] }

// TaskCount returns the number of known pods.
func (c *Cluster) TaskCount() int { return len(c.tasks) }

// Gen returns the generation of the last change.
func (c *Cluster) Gen() uint64 { return c.gen }

func (c *Cluster) nextGeneration() uint64 {
	c.gen++
	return c.gen
}

// widenNodes widens the node rows after new resource names have appeared.
func (c *Cluster) widenNodes() {
	if n := c.Resources.Len(); n > c.Nodes.Stride {
		c.Nodes.widenNodeRows((n + 7) &^ 7)
		c.NodeSetGen = c.nextGeneration()
	}
}

func (c *Cluster) markNodeChanged(id NodeID) {
	c.Nodes.Changed[id] = c.nextGeneration()
	c.nodeLog.add(id, c.gen)
}

// NodesSince calls visit for every node row that changed after generation gen, including dead rows. It may visit a
// row more than once. If the log does not reach back far enough, it returns false without calling visit, and the
// caller must check all rows.
func (c *Cluster) NodesSince(gen uint64, visit func(NodeID)) bool {
	return c.nodeLog.visitSince(gen, visit)
}

// GangsSince is like NodesSince, but for gangs. Deleted gangs are included.
func (c *Cluster) GangsSince(gen uint64, visit func(*Gang)) bool {
	return c.gangLog.visitSince(gen, visit)
}

// SortedQueues returns the queues sorted by name, reusing buffer.
func (c *Cluster) SortedQueues(buffer []*Queue) []*Queue {
	out := buffer[:0]
	for _, q := range c.Queues {
		out = append(out, q)
	}
	slices.SortFunc(out, func(a, b *Queue) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// changeLog records the latest changes with their generations, up to logLimit entries.
type changeLog[T any] struct {
	entries []logged[T]
	// from is the highest generation whose entries may be missing because they were dropped.
	from uint64
}

type logged[T any] struct {
	gen  uint64
	item T
}

const logLimit = 1 << 17

func (l *changeLog[T]) add(item T, gen uint64) {
	if len(l.entries) >= logLimit {
		half := len(l.entries) / 2
		l.from = l.entries[half-1].gen
		l.entries = append(l.entries[:0], l.entries[half:]...)
	}
	l.entries = append(l.entries, logged[T]{gen, item})
}

func (l *changeLog[T]) visitSince(gen uint64, visit func(T)) bool {
	if gen < l.from {
		return false
	}
	start, _ := slices.BinarySearchFunc(l.entries, gen+1, func(e logged[T], g uint64) int {
		if e.gen < g {
			return -1
		}
		if e.gen > g {
			return 1
		}
		return 0
	})
	for i := start; i < len(l.entries); i++ {
		visit(l.entries[i].item)
	}
	return true
}

// Delta is one change to the cluster's state. The …From converters create deltas; Cluster.Apply applies them.
type Delta interface{ apply(c *Cluster) }

// HasRunTimes reports whether the run time of any pod or gang is known.
func (c *Cluster) HasRunTimes() bool { return c.timed > 0 }

// countRunTimes counts the tasks and gangs with a known run time.
func (c *Cluster) countRunTimes(known bool, sign int) {
	if known {
		c.timed += sign
	}
}
