package snapshot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
)

// Board holds all data of the dashboard and is updated object by object. Each change marks the affected rows, and
// Freeze rebuilds only these rows.
type Board struct {
	nodes  map[string]*nodeEntry
	jobs   map[types.UID]*jobEntry
	pods   map[types.UID]*Pod
	queues map[string]*schedulingv1beta1.Queue
	groups map[types.NamespacedName]*schedulingv1beta1.PodGroup
	hyper  map[string]*topologyv1alpha1.HyperNode
	events *eventLog
	// priority maps priority classes to their values. It is replaced instead of changed, because snapshots contain it.
	priority map[string]int32

	touched struct {
		nodes  map[string]bool
		jobs   map[types.UID]bool
		queues bool // any queue, or any data that is part of a queue's counts
		tree   bool // the tree of hypernodes
		events bool
	}
	// unknown holds the kinds of which not all objects are visible. Values that depend on these are not computed.
	unknown map[string]bool
	// amounts holds each distinct set of requests once, so that pods with equal requests share it.
	amounts map[string]*Amounts
	// containers holds each distinct list of container names once, by its names.
	containers map[string][]string

	last *Snapshot
}

type nodeEntry struct {
	facts *Node // without pods; nil if only pods on the node are known
	pods  map[types.UID]*Pod
	shown *Node
}

type jobEntry struct {
	object *batchv1alpha1.Job // nil if only its PodGroup or its pods are known
	group  *schedulingv1beta1.PodGroup
	pods   map[types.UID]*Pod
	shown  *Job
}

func (e *jobEntry) isEmpty() bool { return e.object == nil && e.group == nil && len(e.pods) == 0 }

// NewBoard returns an empty Board.
func NewBoard() *Board {
	b := &Board{
		nodes: map[string]*nodeEntry{}, jobs: map[types.UID]*jobEntry{}, pods: map[types.UID]*Pod{}, queues: map[string]*schedulingv1beta1.Queue{},
		groups: map[types.NamespacedName]*schedulingv1beta1.PodGroup{}, hyper: map[string]*topologyv1alpha1.HyperNode{}, priority: map[string]int32{}, unknown: map[string]bool{}, amounts: map[string]*Amounts{}, containers: map[string][]string{}, events: &eventLog{},
	}
	b.touched.nodes, b.touched.jobs = map[string]bool{}, map[types.UID]bool{}
	return b
}

func (b *Board) ensureNodeEntry(name string) *nodeEntry {
	b.touched.nodes[name] = true
	e := b.nodes[name]
	if e == nil {
		e = &nodeEntry{pods: map[types.UID]*Pod{}}
		b.nodes[name] = e
	}
	return e
}

func (b *Board) ensureJobEntry(uid types.UID) *jobEntry {
	b.touched.jobs[uid] = true
	e := b.jobs[uid]
	if e == nil {
		e = &jobEntry{pods: map[types.UID]*Pod{}}
		b.jobs[uid] = e
	}
	return e
}

// dropEmptyEntries removes entries without any data.
func (b *Board) dropEmptyEntries(node string, job types.UID) {
	if e := b.nodes[node]; e != nil && e.facts == nil && len(e.pods) == 0 {
		delete(b.nodes, node)
	}
	if e := b.jobs[job]; e != nil && e.isEmpty() {
		delete(b.jobs, job)
	}
}

// SetNode stores a node returned by FromNode.
func (b *Board) SetNode(n *Node) { b.ensureNodeEntry(n.Name).facts = n }

// DropNode removes a node.
func (b *Board) DropNode(name string) {
	b.ensureNodeEntry(name).facts = nil
	b.dropEmptyEntries(name, "")
}

// SetPod stores a pod returned by FromPod.
func (b *Board) SetPod(p *Pod) {
	if old := b.pods[p.UID]; old != nil && (old.Node != p.Node || old.JobUID != p.JobUID) {
		b.DropPod(p.UID)
	}
	b.shareRequests(p)
	b.shareContainers(p)
	b.pods[p.UID] = p
	if p.Node != "" {
		b.ensureNodeEntry(p.Node).pods[p.UID] = p
	}
	if p.JobUID != "" {
		b.ensureJobEntry(p.JobUID).pods[p.UID] = p
	} else {
		b.touched.events = true // an event about the pod may have arrived before it
	}
}

// shareContainers makes pods with the same containers share a single list of their names.
func (b *Board) shareContainers(p *Pod) {
	key := strings.Join(p.Containers, " ")
	if b.containers[key] == nil {
		b.containers[key] = p.Containers
	}
	p.Containers = b.containers[key]
}

// shareRequests makes pods with the same requests share a single copy of them.
func (b *Board) shareRequests(p *Pod) {
	if p.Asks == nil {
		return
	}
	key := fmt.Sprint(p.Asks.MilliCPU, p.Asks.MemoryBytes, p.Asks.Devices)
	if b.amounts[key] == nil {
		b.amounts[key] = p.Asks
	}
	p.Asks = b.amounts[key]
}

// DropPod removes a pod.
func (b *Board) DropPod(uid types.UID) {
	p := b.pods[uid]
	if p == nil {
		return
	}
	delete(b.pods, uid)
	if p.Node != "" {
		delete(b.ensureNodeEntry(p.Node).pods, uid)
	}
	if p.JobUID != "" {
		delete(b.ensureJobEntry(p.JobUID).pods, uid)
	}
	b.dropEmptyEntries(p.Node, p.JobUID)
}

// SetJob stores a job, which the caller must not modify afterwards.
func (b *Board) SetJob(job *batchv1alpha1.Job) {
	b.ensureJobEntry(job.UID).object = job
	b.touched.queues = true
}

// DropJob removes a job.
func (b *Board) DropJob(uid types.UID) {
	b.ensureJobEntry(uid).object = nil
	b.dropEmptyEntries("", uid)
	b.touched.queues = true
}

// SetGroup stores a PodGroup, which the caller must not modify afterwards.
func (b *Board) SetGroup(g *schedulingv1beta1.PodGroup) {
	name := types.NamespacedName{Namespace: g.Namespace, Name: g.Name}
	if old := b.groups[name]; old != nil && ownerJobUID(old) != ownerJobUID(g) {
		b.DropGroup(name)
	}
	b.groups[name] = g
	if owner := ownerJobUID(g); owner != "" {
		b.ensureJobEntry(owner).group = g
	}
	b.touched.queues = true
}

// DropGroup removes a PodGroup.
func (b *Board) DropGroup(name types.NamespacedName) {
	old := b.groups[name]
	if old == nil {
		return
	}
	delete(b.groups, name)
	if owner := ownerJobUID(old); owner != "" {
		if e := b.ensureJobEntry(owner); e.group == old {
			e.group = nil
		}
		b.dropEmptyEntries("", owner)
	}
	b.touched.queues = true
}

// ownerJobUID returns the UID of the job that owns a PodGroup, or "".
func ownerJobUID(g *schedulingv1beta1.PodGroup) types.UID {
	for i := range g.OwnerReferences {
		if o := &g.OwnerReferences[i]; o.Kind == "Job" && strings.HasPrefix(o.APIVersion, batchv1alpha1.GroupVersion.Group+"/") {
			return o.UID
		}
	}
	return ""
}

// SetQueue stores a queue, which the caller must not modify afterwards.
func (b *Board) SetQueue(q *schedulingv1beta1.Queue) {
	if old := b.queues[q.Name]; old == nil || old.Status.State != q.Status.State {
		b.markQueueJobs(q.Name)
	}
	b.queues[q.Name] = q
	b.touched.queues = true
}

// DropQueue removes a queue.
func (b *Board) DropQueue(name string) {
	delete(b.queues, name)
	b.touched.queues = true
	b.markQueueJobs(name)
}

// markQueueJobs marks the jobs of a queue, because the queue's state is part of the reason why they wait.
func (b *Board) markQueueJobs(queue string) {
	for uid, e := range b.jobs {
		if e.object != nil && cmp.Or(e.object.Spec.Queue, keys.DefaultQueue) == queue {
			b.touched.jobs[uid] = true
		}
	}
}

// SetHyperNode stores a hypernode, which the caller must not modify afterwards.
func (b *Board) SetHyperNode(h *topologyv1alpha1.HyperNode) {
	b.hyper[h.Name] = h
	b.touched.tree = true
}

// DropHyperNode removes a hypernode.
func (b *Board) DropHyperNode(name string) {
	delete(b.hyper, name)
	b.touched.tree = true
}

// SetPriority sets the value of a priority class.
func (b *Board) SetPriority(class string, value int32) {
	b.priority = maps.Clone(b.priority)
	b.priority[class] = value
	for uid, e := range b.jobs {
		if e.object != nil && e.object.Spec.PriorityClassName == class {
			b.touched.jobs[uid] = true
		}
	}
}

// DropPriority removes a priority class.
func (b *Board) DropPriority(class string) {
	b.SetPriority(class, 0) // marks the jobs of the class
	b.priority = maps.Clone(b.priority)
	delete(b.priority, class)
}

// AddEvent stores an event and replaces its previous version. It reports whether the Snapshot changes, which is not
// the case if the event is already stored or concerns a pod without a job.
func (b *Board) AddEvent(e *Event) bool {
	changed := !b.isAboutForeignPod(e) && b.events.storeEvent(e)
	b.touched.events = b.touched.events || changed
	return changed
}

// isAboutForeignPod reports whether an event is about a known pod that belongs to no job.
func (b *Board) isAboutForeignPod(e *Event) bool {
	if e.Kind != "Pod" {
		return false
	}
	pod := b.pods[e.Of]
	return pod != nil && pod.JobUID == ""
}

// ForgetEvents removes all events about pods, or all other events.
func (b *Board) ForgetEvents(ofPods bool) {
	if ofPods {
		b.events.pods = ring{}
	} else {
		b.events.others = ring{}
	}
	b.touched.events = true
}

// The kinds for SetUnknown.
const (
	Pods      = "pods"
	PodGroups = "podgroups"
)

// SetUnknown records whether some objects of a kind, which is Pods or PodGroups, may be invisible. If pods may be,
// idle resources are unknown; if PodGroups may be, it is unknown whether a job has one.
func (b *Board) SetUnknown(kind string, unknown bool) {
	if b.unknown[kind] == unknown {
		return
	}
	b.unknown[kind] = unknown
	for name := range b.nodes {
		b.touched.nodes[name] = true
	}
	for uid := range b.jobs {
		b.touched.jobs[uid] = true
	}
	b.touched.queues = true
}

// Facts holds the parts of a Snapshot other than its rows.
type Facts struct {
	Cluster    string
	Connection Connection
	Loading    []Loading
	Hidden     []Hidden
	Policy     string
	Usage      *Usage
}

// TakeSnapshot returns a Snapshot of the current data. Its cost is proportional to the number of rows that changed
// since the last Snapshot, plus a copy of the lists.
func (b *Board) TakeSnapshot(now time.Time, facts Facts) *Snapshot {
	before := b.last
	if before == nil {
		before = &Snapshot{index: &index{}}
	}
	s := &Snapshot{
		At: now, Serial: before.Serial + 1, Cluster: facts.Cluster, Connection: facts.Connection, Loading: facts.Loading, Hidden: facts.Hidden, Policy: facts.Policy, Usage: facts.Usage,
		Nodes: before.Nodes, Queues: before.Queues, Jobs: before.Jobs, Events: before.Events, Resources: before.Resources, PriorityClasses: b.priority,
		memo: &memo{made: map[any]any{}},
	}
	b.updateNodes(s)
	b.updateJobs(s)
	if b.touched.queues {
		s.Queues = b.updateQueues(s.Jobs)
	}
	if b.touched.events {
		s.Events = slices.DeleteFunc(b.events.newestEvents(), b.isAboutForeignPod)
	}
	s.index = before.index
	if !haveSameRows(s, before) {
		s.index = &index{}
	}
	b.touched.queues, b.touched.tree, b.touched.events = false, false, false
	clear(b.touched.nodes)
	clear(b.touched.jobs)
	b.last = s
	return s
}

// haveSameRows reports whether two Snapshots have the same objects in the same positions.
func haveSameRows(a, b *Snapshot) bool {
	isSameJob := func(x, y *Job) bool { return x == y || x.UID == y.UID }
	isSameNode := func(x, y *Node) bool { return x == y || x.Name == y.Name }
	isSameQueue := func(x, y *Queue) bool { return x == y || x.Name == y.Name }
	return slices.EqualFunc(a.Jobs, b.Jobs, isSameJob) && slices.EqualFunc(a.Nodes, b.Nodes, isSameNode) &&
		slices.EqualFunc(a.Queues, b.Queues, isSameQueue)
}

// mergeChanges merges changes into a list that is sorted by compare: it replaces changed rows, inserts new rows, and
// removes rows for which gone returns true.
func mergeChanges[R any](list []*R, gone func(*R) bool, fresh []*R, compare func(a, b *R) int) []*R {
	if len(fresh) == 0 && !slices.ContainsFunc(list, gone) {
		return list
	}
	slices.SortFunc(fresh, compare)
	merged := make([]*R, 0, len(list)+len(fresh))
	for _, row := range list {
		if gone(row) {
			continue
		}
		for len(fresh) > 0 && compare(fresh[0], row) < 0 {
			merged, fresh = append(merged, fresh[0]), fresh[1:]
		}
		merged = append(merged, row)
	}
	return append(merged, fresh...)
}

func (b *Board) updateNodes(s *Snapshot) {
	if b.touched.tree {
		for name := range b.nodes {
			b.touched.nodes[name] = true
		}
	}
	if len(b.touched.nodes) == 0 {
		return
	}
	paths := b.hyperNodePaths()
	var fresh []*Node
	for name := range b.touched.nodes {
		e := b.nodes[name]
		if e == nil || e.facts == nil {
			continue
		}
		e.shown = newNodeRow(e.facts, slices.Collect(maps.Values(e.pods)), b.unknown[Pods])
		e.shown.HyperNodes = paths[name]
		fresh = append(fresh, e.shown)
	}
	s.Nodes = mergeChanges(s.Nodes, func(n *Node) bool { return b.touched.nodes[n.Name] }, fresh, func(x, y *Node) int { return cmp.Compare(x.Name, y.Name) })
	s.Resources = resourcesOfNodes(s.Nodes)
}

func (b *Board) updateJobs(s *Snapshot) {
	if len(b.touched.jobs) == 0 {
		return
	}
	var fresh []*Job
	for uid := range b.touched.jobs {
		e := b.jobs[uid]
		if e == nil || e.object == nil {
			continue
		}
		old := e.shown
		e.shown = b.newJobRow(e, s.At)
		// Pending jobs are also in the lists of their queues, which also count pods.
		b.touched.queues = b.touched.queues || affectsQueue(old, e.shown)
		fresh = append(fresh, e.shown)
	}
	s.Jobs = mergeChanges(s.Jobs, func(j *Job) bool { return b.touched.jobs[j.UID] }, fresh, compareByNamespace)
}

// affectsQueue reports whether the change of a job's row may change the row of its queue. The old row may be nil.
func affectsQueue(old, shown *Job) bool {
	hasOtherPods := old == nil || old.PodsOnNodes != shown.PodsOnNodes
	return hasOtherPods || isPendingInQueue(old) || isPendingInQueue(shown)
}

func compareByNamespace(a, b *Job) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}
