package model

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Cluster is everything known. Fields are for reading; change it with Apply and
// the Assume… methods only.
type Cluster struct {
	// DefaultQueue is the queue of gangs that name none.
	DefaultQueue string

	Resources *Resources
	Nodes     Nodes
	NodeCount int
	Total     Vec // what all live nodes have, at most MaxSum
	Shapes    []*Shape
	Gangs     map[string]*Gang  // by namespace/name, unknown ones included
	Queues    map[string]*Queue // by name, unknown ones included
	Numa      map[string]*Numa  // cpu topologies by node name, also of nodes that are not known

	HyperNodes map[string]*HyperNode // by name; Topology makes a tree of them

	// Namespaces are the labels of the namespaces that exist, by name.
	Namespaces map[string]map[string]string
	// EstimateGen is the generation of the last change of a gang's estimated run time.
	EstimateGen uint64
	// NamespaceGen is the generation of the last change of them.
	NamespaceGen uint64

	// Budgets are the PodDisruptionBudgets, by namespace/name; BudgetGen is the generation of the last change of them.
	Budgets map[string]*Budget
	// Shuffled says when a policy last moved pods, by its name.
	Shuffled  map[string]time.Time
	BudgetGen uint64

	// Attachable are the volumes and devices that pods attach.
	Attachable Attachable

	// QueueGateGen is the generation of the last change of a task that a queue's gate is about.
	QueueGateGen uint64

	// Quotas are those of namespaces, by name. QuotaGen changes with them.
	Quotas   map[string][]Quota
	QuotaGen uint64

	// Usage is what accounts have used, as last decided or read.
	Usage map[Account]Usage
	// UsageGen is the generation of the last change of which accounts Usage names, and of what was read of it.
	UsageGen uint64

	// Generations of the last change of the sum of all nodes, of which nodes exist, of queues' specs.
	TotalGen, NodeSetGen, QueueSetGen uint64
	// ForeignGen is the generation of the last change of what pods without a gang hold.
	ForeignGen uint64

	tasks      map[types.UID]*Task
	taskNames  map[string]*Task
	gangUIDs   map[types.UID]*Gang
	shapes     map[string]*Shape
	freeShapes []int32
	classes    map[string]PriorityClassSet
	stale      []*Gang
	dead       []NodeID // rows that may be free
	nodeLog    changeLog[NodeID]
	gangLog    changeLog[*Gang]
	gen        uint64
	total      exact // what Total is made from
	// topology is the tree, made from the HyperNodes as of hyperGen and the nodes as of topologyNodes.
	topology                *Topology
	hyperGen, topologyNodes uint64
	hyperSeen               uint64 // the last change of a HyperNode's status
	topologyInfos           []nodeSeen
	loose                   map[*Task]bool // pods of ours without a node that name no PodGroup
	// leaving are pods that are being deleted until a known time, lingering those of which that is over.
	leaving, lingering map[*Task]bool
	// bereft are gangs that lost pods while they ran.
	bereft map[*Gang]bool
	// LingerGen is the generation of the last change of Lingering.
	LingerGen uint64
	orphans   map[*Gang]bool // named by pods, not known when last looked at
	timed     int            // tasks and gangs whose run time is known
	// queueGates counts tasks that are to pass a queue's gate, or have.
	queueGates int
}

// New returns an empty cluster.
func New() *Cluster {
	c := &Cluster{
		DefaultQueue: "default",
		Resources:    newResources(),
		Gangs:        map[string]*Gang{},
		Queues:       map[string]*Queue{},
		Numa:         map[string]*Numa{},
		HyperNodes:   map[string]*HyperNode{},
		Namespaces:   map[string]map[string]string{},
		Budgets:      map[string]*Budget{},
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

// Apply carries out changes, in order.
func (c *Cluster) Apply(deltas ...Delta) {
	for _, d := range deltas {
		d.apply(c)
	}
	c.refresh()
}

// Task finds a pod.
func (c *Cluster) Task(uid types.UID) *Task { return c.tasks[uid] }

// TaskCount is the number of pods known.
func (c *Cluster) TaskCount() int { return len(c.tasks) }

// Gen is the generation of the last change.
func (c *Cluster) Gen() uint64 { return c.gen }

func (c *Cluster) next() uint64 {
	c.gen++
	return c.gen
}

// grow widens the node rows when new resource names came up.
func (c *Cluster) grow() {
	if n := c.Resources.Len(); n > c.Nodes.Stride {
		c.Nodes.widen((n + 7) &^ 7)
		c.NodeSetGen = c.next()
	}
}

func (c *Cluster) touch(id NodeID) {
	c.Nodes.Changed[id] = c.next()
	c.nodeLog.add(id, c.gen)
}

// NodesSince calls visit for every node row that changed after generation gen,
// some perhaps more than once, dead ones included. It returns false, without a
// call, when the log does not reach back so far: then look at all.
func (c *Cluster) NodesSince(gen uint64, visit func(NodeID)) bool {
	return c.nodeLog.since(gen, visit)
}

// GangsSince is NodesSince for gangs; ones that are gone are included.
func (c *Cluster) GangsSince(gen uint64, visit func(*Gang)) bool {
	return c.gangLog.since(gen, visit)
}

// SortedQueues returns the queues by name.
func (c *Cluster) SortedQueues(buffer []*Queue) []*Queue {
	out := buffer[:0]
	for _, q := range c.Queues {
		out = append(out, q)
	}
	slices.SortFunc(out, func(a, b *Queue) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// changeLog remembers what changed when, as far back as limit entries.
type changeLog[T any] struct {
	entries []logged[T]
	// from: generations up to it may be forgotten.
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

func (l *changeLog[T]) since(gen uint64, visit func(T)) bool {
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
