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

// Gang is a PodGroup and its pods. If a pod names a PodGroup that does not exist yet, the gang exists with Known
// false.
type Gang struct {
	Known           bool
	UID             types.UID
	Namespace, Name string
	// Job is the name of the Job that owns the PodGroup; "" if none.
	Job             string
	Created         time.Time
	Queue           *Queue
	MinMember       int
	MinTaskMember   map[string]int
	MinResources    Request
	HasMinResources bool
	// TaskRequests holds the request of one pod of each of the job's tasks; nil if unknown.
	TaskRequests map[string]Request
	// placements holds, for each task of the job, a shape with the constraints on where its pods may run. The key ""
	// stands for all other tasks. nil means that the constraints are unknown.
	placements map[string]*Shape
	// placesCounted is true while the placements count as shapes of pods in queues.
	placesCounted bool
	// undescribed is true while the cluster counts the gang as undescribed: none of its pods exist, and no job
	// describes them.
	undescribed bool
	// User is the user who submitted the gang, as given by an annotation or label; "" if unknown.
	User string
	// QuotaResources holds the part of minResources whose names are used only by quotas, such as requests.cpu and
	// limits.memory.
	QuotaResources []Amount
	PriorityClass  string
	Priority       int32
	// Capped is true if Priority is less than the priority of the gang's class, because its pods do not have that
	// class: see setGangPriority.
	Capped      bool
	Annotations map[string]string
	// Preemptable is the text of the preemptable annotation or, if it is missing, of the label; "" if both are
	// missing.
	Preemptable string
	// Estimate is the expected run time of the gang's pods; 0 if unknown.
	Estimate time.Duration
	// Topology limits the distance between the gang's pods; nil if they may run anywhere.
	Topology  *TopologySpec
	SubGroups []SubGroupPolicy

	Tasks []*Task // in no particular order
	Count [statuses]int
	// PendingBestEffort is the number of pending tasks without requests. Gated is the number of pending tasks with
	// scheduling gates.
	PendingBestEffort int
	Gated             int
	// Sums are limited to MaxSum. They are computed from held, asked, promised, leaving and lingering.
	Sums        Sums
	held, asked exact
	// promised is the part of held that is only promised. leaving and lingering are used on nodes by pods that are
	// not part of held: leaving by pods that are being deleted, lingering by pods whose end is unknown.
	promised, leaving, lingering exact
	// Status is the latest status that was decided here or, if none was decided, that was read from the API.
	Status schedulingv1beta1.PodGroupStatus
	// StatusAt is the time when Status was last decided here; zero if never.
	StatusAt time.Time
	// ours is true if Status was decided here; older versions from the API are then ignored.
	ours bool
	// unwritten is true if the latest status has not been written to the API.
	unwritten bool

	// Lost lists the pods that the gang lost while it ran and that have not been replaced.
	Lost []Lost
	// gave holds the gangs to which this gang lost resources because of its share: see Gave.
	gave map[types.UID]Gave
	// EvictedBy describes which gang or policy last evicted pods of the gang, and why; "" once the gang has placed a
	// pod again.
	EvictedBy string

	// Gen is the generation of the last change to the gang.
	Gen uint64
	// Spec is the generation of the last change to the PodGroup's spec or to the set of tasks.
	Spec uint64
	// stale is true while the queue's sums do not include this gang's latest sums.
	stale bool
	// contributed is the part of the queue's sums that comes from this gang.
	contributed Sums
	queued      *Queue // the queue whose sums include contributed
	member      bool   // the gang is counted in queued.Gangs
}

// Sums are the resource sums of a gang or a queue. Each is limited to MaxSum.
type Sums struct {
	Allocated Vec // held by tasks that are binding, bound or running, or promised
	Pending   Vec // requested by pending tasks without gates
	Inqueue   Vec // admitted but not used yet
	Elastic   Vec // used beyond the minimum
	Promised  Vec // the part of Allocated that is promised but not bound yet
	Leaving   Vec // used on nodes by pods that are being deleted and have not ended; not part of Allocated
	// Lingering is the amount used on nodes by pods whose end is unknown: they should have ended, their node is lost,
	// or their PodGroup was deleted. It is not part of Allocated.
	Lingering Vec
}

func (s *Sums) copyFrom(o *Sums) {
	to, from := s.allVectors(), o.allVectors()
	for i, v := range from {
		*to[i] = append((*to[i])[:0], *v...)
	}
}

// allVectors returns the sums, always in the same order.
func (s *Sums) allVectors() [7]*Vec {
	return [...]*Vec{&s.Allocated, &s.Pending, &s.Inqueue, &s.Elastic, &s.Promised, &s.Leaving, &s.Lingering}
}

// IsProtected reports whether the PodGroup forbids preemption of its pods.
func (g *Gang) IsProtected() bool { return !IsPreemptionAllowed(g.Preemptable) }

// IsPreemptionAllowed parses the boolean volcano.sh/preemptable and reports whether pods may be preempted. As in
// Volcano, a missing value means true, but an invalid one means false, because an eviction cannot be undone.
func IsPreemptionAllowed(text string) bool {
	if text == "" {
		return true
	}
	yes, err := strconv.ParseBool(text)
	return err == nil && yes
}

// Key returns namespace/name.
func (g *Gang) Key() string { return g.Namespace + "/" + g.Name }

// Title returns the name by which users know the gang: the name of its job or, without a job, of its PodGroup.
func (g *Gang) Title() string {
	if g.Job != "" {
		return g.Namespace + "/" + g.Job
	}
	return g.Key()
}

// HasUnwrittenStatus reports whether the decided status has not been written to the API.
func (g *Gang) HasUnwrittenStatus() bool { return g.unwritten }

// HasDecidedStatus reports whether Status was decided here rather than read from the API.
func (g *Gang) HasDecidedStatus() bool { return g.ours }

// AllocatedTasks returns the number of tasks that hold resources on a node.
func (g *Gang) AllocatedTasks() int { return g.Count[Binding] + g.Count[Bound] + g.Count[Running] }

// CountReady returns the number of tasks that are placed or have succeeded.
func (g *Gang) CountReady() int { return g.AllocatedTasks() + g.Count[Succeeded] }

// ensureGang returns the gang with the given name. If it does not exist, gang adds an unknown gang.
func (c *Cluster) ensureGang(namespace, name string) *Gang {
	key := namespace + "/" + name
	if g := c.Gangs[key]; g != nil {
		return g
	}
	g := &Gang{Namespace: namespace, Name: name}
	c.Gangs[key] = g
	return g
}

// AssumeAllocatedHyperNode records that the HyperNode annotation of a gang will be written.
func (c *Cluster) AssumeAllocatedHyperNode(uid types.UID, name string) {
	if g := c.gangUIDs[uid]; g != nil {
		g.Annotations = maps.Clone(g.Annotations)
		if g.Annotations == nil {
			g.Annotations = map[string]string{}
		}
		g.Annotations[keys.AllocatedHyperNode] = name
	}
}

func (c *Cluster) dropUnknownGang(g *Gang) {
	if !g.Known && len(g.Tasks) == 0 && c.Gangs[g.Key()] == g {
		delete(c.Gangs, g.Key())
	}
}

func (d GangSet) apply(c *Cluster) {
	g := c.ensureGang(d.Namespace, d.Name)
	if g.Known && g.UID != d.UID { // re-created under the same name
		g.ours, g.unwritten = false, false
		g.Status, g.StatusAt = schedulingv1beta1.PodGroupStatus{}, time.Time{}
		delete(c.gangUIDs, g.UID)
		g.Lost, g.gave = nil, nil
		c.dropIfNoneLost(g)
	}
	g.Known, g.UID, g.Created, g.Job = true, d.UID, d.Created, d.Job
	c.gangUIDs[d.UID] = g
	queue := d.Queue
	if queue == "" {
		queue = c.DefaultQueue
	}
	if q := c.ensureQueue(queue); g.Queue != q {
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
	c.widenNodes()
	g.PriorityClass, g.Annotations, g.Preemptable = d.PriorityClass, d.Annotations, d.Preemptable
	c.countRunTimes(g.Estimate > 0, -1)
	if g.Estimate != d.Estimate {
		c.EstimateGen = c.nextGeneration()
	}
	g.Estimate = d.Estimate
	c.countRunTimes(g.Estimate > 0, 1)
	g.Topology, g.SubGroups = d.Topology, d.SubGroups
	c.setGangPriority(g)
	if !g.ours {
		g.Status = d.Status
	}
	g.Spec = c.nextGeneration()
	c.markGangChanged(g)
}

func (d GangGone) apply(c *Cluster) {
	g := c.Gangs[d.Namespace+"/"+d.Name]
	if g == nil || !g.Known {
		return
	}
	if d.UID != "" && d.UID != g.UID {
		return
	}
	delete(c.gangUIDs, g.UID)
	g.Known, g.ours, g.unwritten = false, false, false
	g.UID = ""
	c.setPlacements(g, nil)
	c.countRunTimes(g.Estimate > 0, -1)
	if g.Estimate > 0 {
		c.EstimateGen = c.nextGeneration()
	}
	g.Estimate, g.Lost = 0, nil
	c.dropIfNoneLost(g)
	g.Spec = c.nextGeneration()
	c.markGangChanged(g)
	for _, t := range g.Tasks {
		if t.Status == Pipelined {
			c.moveTaskTo(t, NoNode, Pending)
		}
	}
	c.dropUnknownGang(g)
}

// countTaskInGang adds a task to the gang's counts and sums, or removes it if sign is -1.
func (c *Cluster) countTaskInGang(g *Gang, t *Task, sign int) {
	g.Count[t.Status] += sign
	if !t.Status.HasEnded() {
		t.Shape.inQueues += sign
	}
	switch {
	case t.Status.IsAllocated() || t.Status == Pipelined:
		g.held.add(t.Shape.Request, int64(sign))
		if t.Status == Pipelined {
			g.promised.add(t.Shape.Request, int64(sign))
		}
	case t.Status == Releasing && t.Node != NoNode:
		g.leaving.add(t.Shape.Request, int64(sign))
	case t.Status.CountsOnNode() && t.Node != NoNode:
		g.lingering.add(t.Shape.Request, int64(sign))
	case t.Status == Pending && t.Gated:
		g.Gated += sign
		if t.QueueGated && !t.Shape.Impossible { // the pod needs room in its queue's share
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
	c.markGangChanged(g)
}

// markGangChanged marks a gang as changed, so that its queue's sums and its status are recomputed.
func (c *Cluster) markGangChanged(g *Gang) {
	g.Gen = c.nextGeneration()
	if !g.Known {
		c.orphans[g] = true
	}
	if !g.stale {
		g.stale = true
		c.stale = append(c.stale, g)
	}
	c.gangLog.add(g, g.Gen)
}

// refreshQueues updates the sums of queues for the gangs that have changed.
func (c *Cluster) refreshQueues() {
	for _, g := range c.stale {
		g.stale = false
		c.countPlacements(g, g.isAwaitingPods())
		c.countUndescribed(g)
		if g.Known && g.PriorityClass != "" {
			c.setGangPriority(g) // the priority depends on its pods
		}
		if g.queued != nil {
			g.queued.sums.add(&g.contributed, -1)
			g.queued.sums.writeAllTo(&g.queued.Sums)
			if g.member {
				g.queued.Gangs--
			}
			g.queued.Gen = c.nextGeneration()
			g.queued = nil
		}
		if !g.computeContribution() {
			continue
		}
		q := g.Queue
		q.sums.add(&g.contributed, 1)
		q.sums.writeAllTo(&q.Sums)
		if g.member = g.Known; g.member {
			q.Gangs++
		}
		q.Gen = c.nextGeneration()
		g.queued = q
	}
	c.stale = c.stale[:0]
	for _, id := range c.dead {
		c.recycleRow(id)
	}
	c.dead = c.dead[:0]
}

// computeContribution computes what the gang adds to its queue's sums, and reports whether it adds anything. If the
// PodGroup was deleted, its pods still count until they end.
func (g *Gang) computeContribution() bool {
	if g.Known {
		g.computeSums()
		g.contributed.copyFrom(&g.Sums)
		return true
	}
	if g.Queue == nil || len(g.Tasks) == 0 {
		return false
	}
	for _, v := range g.contributed.allVectors() {
		v.clearValues()
	}
	unowned := slices.Clone(g.lingering)
	unowned.addExact(g.held, 1)
	unowned.addExact(g.promised, -1)
	unowned.writeSumsTo(&g.contributed.Lingering)
	g.leaving.writeSumsTo(&g.contributed.Leaving)
	return true
}

// computeSums computes Sums from the tasks' allocations and requests, the phase and minResources.
func (g *Gang) computeSums() {
	g.held.writeSumsTo(&g.Sums.Allocated)
	g.asked.writeSumsTo(&g.Sums.Pending)
	g.promised.writeSumsTo(&g.Sums.Promised)
	g.leaving.writeSumsTo(&g.Sums.Leaving)
	g.lingering.writeSumsTo(&g.Sums.Lingering)
	g.Sums.Inqueue.clearValues()
	g.Sums.Elastic.clearValues()
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
