package model

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Gang is a PodGroup and its pods. It exists before its PodGroup does, when a
// pod names one; Known tells.
type Gang struct {
	Known           bool
	UID             types.UID
	Namespace, Name string
	// Job is the name of the Job that owns the PodGroup; "" = none.
	Job             string
	Created         time.Time
	Queue           *Queue
	MinMember       int
	MinTaskMember   map[string]int
	MinResources    Request
	HasMinResources bool
	// TaskRequests are what a pod of each of its job's tasks requests; nil: unknown.
	TaskRequests map[string]Request
	// placements are shapes that say where the pods of its job's tasks may run, "" for all others; nil: unknown.
	placements map[string]*Shape
	// placesCounted: the placements count as shapes of pods in queues.
	placesCounted bool
	// User is who submitted it, as its annotation or label says; "" = unknown.
	User string
	// QuotaResources are minResources under names that only quotas use: requests.cpu, limits.memory.
	QuotaResources []Amount
	PriorityClass  string
	Priority       int32
	// Capped says that Priority is less than the class's, because the pods do not have it: see rank.
	Capped      bool
	Annotations map[string]string
	// Preemptable is what its annotation, else its label, says of preemption; "" = nothing.
	Preemptable string
	// Estimate is the expected run time of its pods; 0: unknown.
	Estimate time.Duration
	// Topology says how near the pods have to be to each other; nil: anywhere.
	Topology  *TopologySpec
	SubGroups []SubGroupPolicy

	Tasks []*Task // no order
	Count [statuses]int
	// PendingBestEffort counts pending tasks that ask for nothing; Gated those with gates.
	PendingBestEffort int
	Gated             int
	// Sums are bounded by MaxSum; held, asked, promised, leaving and lingering are what they are made from.
	Sums        Sums
	held, asked exact
	// promised is the part of held that is promised only. leaving and lingering are held on nodes by pods that are
	// not part of held: those that are being deleted, and those whose end is unknown.
	promised, leaving, lingering exact
	// Status is as last seen or, once we decided one, as decided.
	Status schedulingv1beta1.PodGroupStatus
	// StatusAt is when Status was last decided here; zero: never.
	StatusAt time.Time
	// ours: Status was decided here, and the API's older versions do not count.
	ours bool
	// unwritten: the last status did not reach the API.
	unwritten bool

	// Lost are the pods that it lost while it ran and that were not replaced.
	Lost []Lost
	// gave are the gangs that it gave room to by an order of shares: see Gave.
	gave map[types.UID]Gave
	// EvictedBy says who took room from the gang last, and why; "" once it got some again.
	EvictedBy string

	// Gen is the generation of the last change of anything here.
	Gen uint64
	// Spec is the generation of the last change of the PodGroup's spec or of which tasks exist.
	Spec uint64
	// stale: the queue's sums do not yet have this gang's.
	stale bool
	// contributed is what the queue's sums have of this gang.
	contributed Sums
	queued      *Queue // whose sums have it
	member      bool   // it is counted in queued.Gangs
}

// Sums are the resource sums of a gang or a queue, none above MaxSum.
type Sums struct {
	Allocated Vec // held: binding, bound, running, and promised
	Pending   Vec // asked by pending tasks without gates
	Inqueue   Vec // let in and not yet held
	Elastic   Vec // held beyond the minimum
	Promised  Vec // the part of Allocated that is promised, and not bound yet
	Leaving   Vec // held on nodes by pods that are being deleted and have not ended; not part of Allocated
	// Lingering is held on nodes by pods whose end is unknown: they should have ended, their node is lost, or
	// their PodGroup was deleted. It is not part of Allocated.
	Lingering Vec
}

func (s *Sums) copyFrom(o *Sums) {
	to, from := s.all(), o.all()
	for i, v := range from {
		*to[i] = append((*to[i])[:0], *v...)
	}
}

// all lists the sums, always in the same order.
func (s *Sums) all() [7]*Vec {
	return [...]*Vec{&s.Allocated, &s.Pending, &s.Inqueue, &s.Elastic, &s.Promised, &s.Leaving, &s.Lingering}
}

// Protected says whether the PodGroup says that none of its pods may be preempted.
func (g *Gang) Protected() bool { return !MayGo(g.Preemptable) }

// MayGo reads volcano.sh/preemptable, a boolean: nothing said is a yes, what cannot be read a no, as in Volcano: whoever wrote it
// meant something, and an eviction cannot be undone.
func MayGo(text string) bool {
	if text == "" {
		return true
	}
	yes, err := strconv.ParseBool(text)
	return err == nil && yes
}

// Key is namespace/name.
func (g *Gang) Key() string { return g.Namespace + "/" + g.Name }

// Title is the name by which people know the gang: that of its job where it has one, else its PodGroup's.
func (g *Gang) Title() string {
	if g.Job != "" {
		return g.Namespace + "/" + g.Job
	}
	return g.Key()
}

// Unwritten says whether the status as decided did not reach the API.
func (g *Gang) Unwritten() bool { return g.unwritten }

// Decided says whether Status was decided here rather than read.
func (g *Gang) Decided() bool { return g.ours }

// AllocatedTasks counts tasks that hold a node.
func (g *Gang) AllocatedTasks() int { return g.Count[Binding] + g.Count[Bound] + g.Count[Running] }

// Ready counts the tasks that are placed or done well.
func (g *Gang) Ready() int { return g.AllocatedTasks() + g.Count[Succeeded] }

// gang returns the gang of a key, an unknown new one if there is none.
func (c *Cluster) gang(namespace, name string) *Gang {
	key := namespace + "/" + name
	if g := c.Gangs[key]; g != nil {
		return g
	}
	g := &Gang{Namespace: namespace, Name: name}
	c.Gangs[key] = g
	return g
}

// AssumeAllocatedHyperNode notes that a gang's annotation will be written.
func (c *Cluster) AssumeAllocatedHyperNode(uid types.UID, name string) {
	if g := c.gangUIDs[uid]; g != nil {
		g.Annotations = maps.Clone(g.Annotations)
		if g.Annotations == nil {
			g.Annotations = map[string]string{}
		}
		g.Annotations[keys.AllocatedHyperNode] = name
	}
}

func (c *Cluster) dropEmpty(g *Gang) {
	if !g.Known && len(g.Tasks) == 0 && c.Gangs[g.Key()] == g {
		delete(c.Gangs, g.Key())
	}
}

func (d GangSet) apply(c *Cluster) {
	g := c.gang(d.Namespace, d.Name)
	if g.Known && g.UID != d.UID { // recreated under the same name
		g.ours, g.unwritten = false, false
		g.Status, g.StatusAt = schedulingv1beta1.PodGroupStatus{}, time.Time{}
		delete(c.gangUIDs, g.UID)
		g.Lost, g.gave = nil, nil
		c.keepLost(g)
	}
	g.Known, g.UID, g.Created, g.Job = true, d.UID, d.Created, d.Job
	c.gangUIDs[d.UID] = g
	queue := d.Queue
	if queue == "" {
		queue = c.DefaultQueue
	}
	if q := c.queue(queue); g.Queue != q {
		g.Queue = q
	}
	g.MinMember, g.MinTaskMember = d.MinMember, d.MinTaskMember
	g.User, g.QuotaResources = d.User, d.QuotaResources
	g.MinResources, g.HasMinResources = c.Resources.Request(d.MinResources), d.HasMinResources
	g.TaskRequests = nil
	for _, task := range slices.Sorted(maps.Keys(d.TaskRequests)) {
		if g.TaskRequests == nil {
			g.TaskRequests = map[string]Request{}
		}
		g.TaskRequests[task] = c.Resources.Request(d.TaskRequests[task])
	}
	c.setPlacements(g, d.TaskPlacements)
	c.grow()
	g.PriorityClass, g.Annotations, g.Preemptable = d.PriorityClass, d.Annotations, d.Preemptable
	c.countTimed(g.Estimate > 0, -1)
	if g.Estimate != d.Estimate {
		c.EstimateGen = c.next()
	}
	g.Estimate = d.Estimate
	c.countTimed(g.Estimate > 0, 1)
	g.Topology, g.SubGroups = d.Topology, d.SubGroups
	c.rank(g)
	if !g.ours {
		g.Status = d.Status
	}
	g.Spec = c.next()
	c.touchGang(g)
}

func (d GangGone) apply(c *Cluster) {
	g := c.Gangs[d.Namespace+"/"+d.Name]
	if g == nil || !g.Known || d.UID != "" && d.UID != g.UID {
		return
	}
	delete(c.gangUIDs, g.UID)
	g.Known, g.ours, g.unwritten = false, false, false
	g.UID = ""
	c.setPlacements(g, nil)
	c.countTimed(g.Estimate > 0, -1)
	if g.Estimate > 0 {
		c.EstimateGen = c.next()
	}
	g.Estimate, g.Lost = 0, nil
	c.keepLost(g)
	g.Spec = c.next()
	c.touchGang(g)
	for _, t := range g.Tasks {
		if t.Status == Pipelined {
			c.place(t, NoNode, Pending)
		}
	}
	c.dropEmpty(g)
}

// count adds sign× the task to the gang's counts and sums.
func (c *Cluster) count(g *Gang, t *Task, sign int) {
	g.Count[t.Status] += sign
	if !t.Status.Ended() {
		t.Shape.inQueues += sign
	}
	switch {
	case t.Status.Allocated() || t.Status == Pipelined:
		g.held.add(t.Shape.Request, int64(sign))
		if t.Status == Pipelined {
			g.promised.add(t.Shape.Request, int64(sign))
		}
	case t.Status == Releasing && t.Node != NoNode:
		g.leaving.add(t.Shape.Request, int64(sign))
	case t.Status.OnNode() && t.Node != NoNode:
		g.lingering.add(t.Shape.Request, int64(sign))
	case t.Status == Pending && t.Gated:
		g.Gated += sign
		if t.QueueGated && !t.Shape.Impossible { // its queue's share is to have room for it
			g.asked.add(t.Shape.Request, int64(sign))
		}
	case t.Status == Pending:
		if t.Shape.BestEffort {
			g.PendingBestEffort += sign
		}
		if !t.Shape.Impossible {
			g.asked.add(t.Shape.Request, int64(sign))
		}
	}
	c.touchGang(g)
}

// touchGang marks a gang as changed: its queue's sums and its status are looked
// at again.
func (c *Cluster) touchGang(g *Gang) {
	g.Gen = c.next()
	if !g.Known {
		c.orphans[g] = true
	}
	if !g.stale {
		g.stale = true
		c.stale = append(c.stale, g)
	}
	c.gangLog.add(g, g.Gen)
}

// refresh brings the sums of queues up to date with the gangs that changed.
func (c *Cluster) refresh() {
	for _, g := range c.stale {
		g.stale = false
		c.countPlacements(g, g.awaitsPods())
		if g.Known && g.PriorityClass != "" {
			c.rank(g) // its pods have a say
		}
		if g.queued != nil {
			g.queued.sums.add(&g.contributed, -1)
			g.queued.sums.into(&g.queued.Sums)
			if g.member {
				g.queued.Gangs--
			}
			g.queued.Gen = c.next()
			g.queued = nil
		}
		if !g.contribute() {
			continue
		}
		q := g.Queue
		q.sums.add(&g.contributed, 1)
		q.sums.into(&q.Sums)
		if g.member = g.Known; g.member {
			q.Gangs++
		}
		q.Gen = c.next()
		g.queued = q
	}
	c.stale = c.stale[:0]
	for _, id := range c.dead {
		c.recycle(id)
	}
	c.dead = c.dead[:0]
}

// contribute computes what the gang adds to its queue's sums and reports whether it adds anything. Pods whose PodGroup
// was deleted stay counted until they have ended.
func (g *Gang) contribute() bool {
	if g.Known {
		g.derive()
		g.contributed.copyFrom(&g.Sums)
		return true
	}
	if g.Queue == nil || len(g.Tasks) == 0 {
		return false
	}
	for _, v := range g.contributed.all() {
		v.zero()
	}
	unowned := slices.Clone(g.lingering)
	unowned.addExact(g.held, 1)
	unowned.addExact(g.promised, -1)
	unowned.into(&g.contributed.Lingering)
	g.leaving.into(&g.contributed.Leaving)
	return true
}

// derive computes Sums: what the tasks hold and ask for, and what follows from
// phase and minResources.
func (g *Gang) derive() {
	g.held.into(&g.Sums.Allocated)
	g.asked.into(&g.Sums.Pending)
	g.promised.into(&g.Sums.Promised)
	g.leaving.into(&g.Sums.Leaving)
	g.lingering.into(&g.Sums.Lingering)
	g.Sums.Inqueue.zero()
	g.Sums.Elastic.zero()
	reserving := g.Status.Phase == schedulingv1beta1.PodGroupInqueue ||
		g.Status.Phase == schedulingv1beta1.PodGroupRunning && g.AllocatedTasks() >= g.MinMember
	if reserving {
		for _, t := range g.MinResources {
			if missing := t.Value - g.Sums.Allocated.Get(int(t.Index)); missing > 0 {
				g.Sums.Inqueue.Add(Request{{Index: t.Index, Value: missing}})
			}
		}
	}
	for i, held := range g.Sums.Allocated {
		if extra := held - g.MinResources.Get(i); extra > 0 {
			g.Sums.Elastic.Add(Request{{Index: int32(i), Value: extra}})
		}
	}
}
