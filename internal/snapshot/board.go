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

// Board is all that is known, kept up to date object by object. What an object touches is marked, and Freeze makes
// only marked rows anew.
type Board struct {
	nodes  map[string]*nodeEntry
	jobs   map[types.UID]*jobEntry
	pods   map[types.UID]*Pod
	queues map[string]*schedulingv1beta1.Queue
	groups map[types.NamespacedName]*schedulingv1beta1.PodGroup
	hyper  map[string]*topologyv1alpha1.HyperNode
	events *told
	// priority is what priority classes stand for.
	priority map[string]int32

	touched struct {
		nodes  map[string]bool
		jobs   map[types.UID]bool
		queues bool // any queue, or what is counted in one
		tree   bool // hypernodes
		events bool
	}
	// unknown are the kinds of which not all is known: what follows from them is not said.
	unknown map[string]bool
	// amounts are those that pods ask for, each once.
	amounts map[string]*Amounts

	last *Snapshot
}

type nodeEntry struct {
	facts *Node // without pods; nil while only pods on it are known
	pods  map[types.UID]*Pod
	shown *Node
}

type jobEntry struct {
	object *batchv1alpha1.Job // nil while only its group or its pods are known
	group  *schedulingv1beta1.PodGroup
	pods   map[types.UID]*Pod
	shown  *Job
}

// NewBoard is a Board that knows nothing.
func NewBoard() *Board {
	b := &Board{
		nodes: map[string]*nodeEntry{}, jobs: map[types.UID]*jobEntry{}, pods: map[types.UID]*Pod{}, queues: map[string]*schedulingv1beta1.Queue{},
		groups: map[types.NamespacedName]*schedulingv1beta1.PodGroup{}, hyper: map[string]*topologyv1alpha1.HyperNode{}, priority: map[string]int32{}, unknown: map[string]bool{}, amounts: map[string]*Amounts{}, events: &told{},
	}
	b.touched.nodes, b.touched.jobs = map[string]bool{}, map[types.UID]bool{}
	return b
}

func (b *Board) node(name string) *nodeEntry {
	b.touched.nodes[name] = true
	e := b.nodes[name]
	if e == nil {
		e = &nodeEntry{pods: map[types.UID]*Pod{}}
		b.nodes[name] = e
	}
	return e
}

func (b *Board) job(uid types.UID) *jobEntry {
	b.touched.jobs[uid] = true
	e := b.jobs[uid]
	if e == nil {
		e = &jobEntry{pods: map[types.UID]*Pod{}}
		b.jobs[uid] = e
	}
	return e
}

// forget drops entries that nothing is known of any more.
func (b *Board) forget(node string, job types.UID) {
	if e := b.nodes[node]; e != nil && e.facts == nil && len(e.pods) == 0 {
		delete(b.nodes, node)
	}
	if e := b.jobs[job]; e != nil && e.object == nil && e.group == nil && len(e.pods) == 0 {
		delete(b.jobs, job)
	}
}

// SetNode takes over a node as FromNode made it.
func (b *Board) SetNode(n *Node) { b.node(n.Name).facts = n }

// DropNode forgets a node.
func (b *Board) DropNode(name string) {
	b.node(name).facts = nil
	b.forget(name, "")
}

// SetPod takes over a pod as FromPod made it.
func (b *Board) SetPod(p *Pod) {
	if old := b.pods[p.UID]; old != nil && (old.Node != p.Node || old.JobUID != p.JobUID) {
		b.DropPod(p.UID)
	}
	b.share(p)
	b.pods[p.UID] = p
	if p.Node != "" {
		b.node(p.Node).pods[p.UID] = p
	}
	if p.JobUID != "" {
		b.job(p.JobUID).pods[p.UID] = p
	} else {
		b.touched.events = true // something may have been told of it before it came
	}
}

// share lets pods that ask for the same devices have one list of them.
func (b *Board) share(p *Pod) {
	if p.Asks == nil {
		return
	}
	key := fmt.Sprint(p.Asks.MilliCPU, p.Asks.MemoryBytes, p.Asks.Devices)
	if b.amounts[key] == nil {
		b.amounts[key] = p.Asks
	}
	p.Asks = b.amounts[key]
}

// DropPod forgets a pod.
func (b *Board) DropPod(uid types.UID) {
	p := b.pods[uid]
	if p == nil {
		return
	}
	delete(b.pods, uid)
	if p.Node != "" {
		delete(b.node(p.Node).pods, uid)
	}
	if p.JobUID != "" {
		delete(b.job(p.JobUID).pods, uid)
	}
	b.forget(p.Node, p.JobUID)
}

// SetJob takes over a job, which is not to change afterwards.
func (b *Board) SetJob(job *batchv1alpha1.Job) {
	b.job(job.UID).object = job
	b.touched.queues = true
}

// DropJob forgets a job.
func (b *Board) DropJob(uid types.UID) {
	b.job(uid).object = nil
	b.forget("", uid)
	b.touched.queues = true
}

// SetGroup takes over a PodGroup, which is not to change afterwards.
func (b *Board) SetGroup(g *schedulingv1beta1.PodGroup) {
	name := types.NamespacedName{Namespace: g.Namespace, Name: g.Name}
	if old := b.groups[name]; old != nil && ownerOf(old) != ownerOf(g) {
		b.DropGroup(name)
	}
	b.groups[name] = g
	if owner := ownerOf(g); owner != "" {
		b.job(owner).group = g
	}
	b.touched.queues = true
}

// DropGroup forgets a PodGroup.
func (b *Board) DropGroup(name types.NamespacedName) {
	old := b.groups[name]
	if old == nil {
		return
	}
	delete(b.groups, name)
	if owner := ownerOf(old); owner != "" {
		if e := b.job(owner); e.group == old {
			e.group = nil
		}
		b.forget("", owner)
	}
	b.touched.queues = true
}

// ownerOf is the job that a PodGroup was made for; "" when it was for none.
func ownerOf(g *schedulingv1beta1.PodGroup) types.UID {
	for i := range g.OwnerReferences {
		if o := &g.OwnerReferences[i]; o.Kind == "Job" && strings.HasPrefix(o.APIVersion, batchv1alpha1.GroupVersion.Group+"/") {
			return o.UID
		}
	}
	return ""
}

// SetQueue takes over a queue, which is not to change afterwards.
func (b *Board) SetQueue(q *schedulingv1beta1.Queue) {
	if old := b.queues[q.Name]; old == nil || old.Status.State != q.Status.State {
		b.touchJobsOf(q.Name)
	}
	b.queues[q.Name] = q
	b.touched.queues = true
}

// DropQueue forgets a queue.
func (b *Board) DropQueue(name string) {
	delete(b.queues, name)
	b.touched.queues = true
	b.touchJobsOf(name)
}

// touchJobsOf marks the jobs of a queue: whether that is open is part of why they wait.
func (b *Board) touchJobsOf(queue string) {
	for uid, e := range b.jobs {
		if e.object != nil && cmp.Or(e.object.Spec.Queue, keys.DefaultQueue) == queue {
			b.touched.jobs[uid] = true
		}
	}
}

// SetHyperNode takes over a hypernode, which is not to change afterwards.
func (b *Board) SetHyperNode(h *topologyv1alpha1.HyperNode) {
	b.hyper[h.Name] = h
	b.touched.tree = true
}

// DropHyperNode forgets a hypernode.
func (b *Board) DropHyperNode(name string) {
	delete(b.hyper, name)
	b.touched.tree = true
}

// SetPriority says what number a priority class stands for.
func (b *Board) SetPriority(class string, value int32) {
	b.priority[class] = value
	for uid, e := range b.jobs {
		if e.object != nil && e.object.Spec.PriorityClassName == class {
			b.touched.jobs[uid] = true
		}
	}
}

// DropPriority forgets a priority class.
func (b *Board) DropPriority(class string) {
	b.SetPriority(class, 0)
	delete(b.priority, class)
}

// AddEvent takes over what somebody told; told again it replaces what was told before. It says whether that changes what is shown: what is known
// already, or told of a pod that no job has, does not.
func (b *Board) AddEvent(e *Event) bool {
	changed := !b.foreign(e) && b.events.add(e)
	b.touched.events = b.touched.events || changed
	return changed
}

// foreign says that an event is about a pod that is known, and of no job.
func (b *Board) foreign(e *Event) bool {
	if e.Kind != "Pod" {
		return false
	}
	pod := b.pods[e.Of]
	return pod != nil && pod.JobUID == ""
}

// ForgetEvents forgets what was told of pods, or of all else.
func (b *Board) ForgetEvents(ofPods bool) {
	if ofPods {
		b.events.pods = ring{}
	} else {
		b.events.others = ring{}
	}
	b.touched.events = true
}

// The kinds of which it matters whether all are known.
const (
	Pods      = "pods"
	PodGroups = "podgroups"
)

// SetUnknown says that not all objects of a kind, Pods or PodGroups, are known, or that they are: without all pods nobody
// knows what is idle, and without all PodGroups nobody knows that a job has none.
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
}

// Facts are what a Snapshot says besides its rows.
type Facts struct {
	Cluster    string
	Connection Connection
	Loading    []Loading
	Hidden     []Hidden
	Policy     string
}

// Freeze makes a Snapshot of what is known. It costs what was touched since the last one, and a copy of the lists.
func (b *Board) Freeze(now time.Time, facts Facts) *Snapshot {
	before := b.last
	if before == nil {
		before = &Snapshot{index: &index{}}
	}
	s := &Snapshot{
		At: now, Serial: before.Serial + 1, Cluster: facts.Cluster, Connection: facts.Connection, Loading: facts.Loading, Hidden: facts.Hidden, Policy: facts.Policy,
		Nodes: before.Nodes, Queues: before.Queues, Jobs: before.Jobs, Events: before.Events, Resources: before.Resources,
		memo: &memo{made: map[any]any{}},
	}
	b.freezeNodes(s)
	b.freezeJobs(s)
	if b.touched.queues {
		s.Queues = b.freezeQueues(s.Jobs)
	}
	if b.touched.events {
		s.Events = slices.DeleteFunc(b.events.newest(), b.foreign)
	}
	s.index = before.index
	if !sameRows(s, before) {
		s.index = &index{}
	}
	b.touched.queues, b.touched.tree, b.touched.events = false, false, false
	clear(b.touched.nodes)
	clear(b.touched.jobs)
	b.last = s
	return s
}

// sameRows says whether the same things stand at the same places of two Snapshots.
func sameRows(a, b *Snapshot) bool {
	return len(a.Jobs) == len(b.Jobs) && len(a.Nodes) == len(b.Nodes) && len(a.Queues) == len(b.Queues) &&
		slices.EqualFunc(a.Jobs, b.Jobs, func(x, y *Job) bool { return x == y || x.UID == y.UID }) &&
		slices.EqualFunc(a.Nodes, b.Nodes, func(x, y *Node) bool { return x == y || x.Name == y.Name }) &&
		slices.EqualFunc(a.Queues, b.Queues, func(x, y *Queue) bool { return x == y || x.Name == y.Name })
}

// refresh puts what was touched into a list that is sorted by compare: changed rows in their places, new ones among them, gone ones out.
func refresh[R any](list []*R, gone func(*R) bool, fresh []*R, compare func(a, b *R) int) []*R {
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

func (b *Board) freezeNodes(s *Snapshot) {
	if b.touched.tree {
		for name := range b.nodes {
			b.touched.nodes[name] = true
		}
	}
	if len(b.touched.nodes) == 0 {
		return
	}
	paths := b.pathsOf()
	var fresh []*Node
	for name := range b.touched.nodes {
		e := b.nodes[name]
		if e == nil || e.facts == nil {
			continue
		}
		e.shown = nodeRow(e.facts, slices.Collect(maps.Values(e.pods)), b.unknown[Pods])
		e.shown.HyperNodes = paths[name]
		fresh = append(fresh, e.shown)
	}
	s.Nodes = refresh(s.Nodes, func(n *Node) bool { return b.touched.nodes[n.Name] }, fresh, func(x, y *Node) int { return cmp.Compare(x.Name, y.Name) })
	s.Resources = resourcesOf(s.Nodes)
}

func (b *Board) freezeJobs(s *Snapshot) {
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
		e.shown = b.jobRow(e, s.At)
		b.touched.queues = b.touched.queues || waits(old) || waits(e.shown) // these stand in the pending orders of their queues, too
		fresh = append(fresh, e.shown)
	}
	s.Jobs = refresh(s.Jobs, func(j *Job) bool { return b.touched.jobs[j.UID] }, fresh, byNamespace)
}

func byNamespace(a, b *Job) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}
