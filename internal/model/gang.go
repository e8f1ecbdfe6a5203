package model

import (
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model/resource"
)

// Gang is a PodGroup and its pods. If a pod names a PodGroup that does not exist yet, the model contains the gang
// with Known set to false.
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
	MinResources    resource.Request
	HasMinResources bool
	// TaskRequests holds the request of one pod of each of the job's tasks; nil if unknown.
	TaskRequests map[string]resource.Request
	// placements holds, for each task of the job, a shape with the constraints on where its pods may run. The key ""
	// stands for all other tasks. nil means that the constraints are unknown.
	placements map[string]*Shape
	// placesCounted is true while the placements count as shapes of pods in queues.
	placesCounted bool
	// undescribed is true while the cluster counts the gang as undescribed: none of its pods exist, and no job
	// describes them.
	undescribed bool
	// User is the user who submitted the gang, as given by an annotation; "" if unknown.
	User string
	// Account is the account for which the gang was submitted, as given by a label; "" if none.
	Account string
	// QOS is the quality of service with which the gang was submitted, as given by a label; "" if none.
	QOS string
	// QuotaResources holds the part of minResources whose names are used only by quotas, such as requests.cpu and
	// limits.memory.
	QuotaResources []resource.Amount
	PriorityClass  string
	Priority       int32
	// Capped is true if Priority is less than the priority of the gang's class, because its pods do not have that
	// class; see setGangPriority.
	Capped      bool
	Annotations map[string]string
	// Preemptable is the text of the preemptable annotation or, if it is missing, of the label; "" if both are
	// missing.
	Preemptable string
	// Estimate is the expected run time of the gang's pods; 0 if unknown.
	Estimate time.Duration
	// TimeLimit is the longest time limit of the gang's pods, including pods that do not exist yet; 0 if it is unknown or
	// a pod has none.
	TimeLimit time.Duration
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
	held, asked resource.Balance
	// promised is the part of held that is only promised. leaving and lingering are amounts that pods use on nodes
	// without being part of held: leaving belongs to pods that are being deleted, and lingering to pods whose end is
	// unknown.
	promised, leaving, lingering resource.Balance
	// Status is the latest status that was decided here or, if none was decided, that was read from the API.
	Status schedulingv1beta1.PodGroupStatus
	// StatusAt is the time when Status was last decided here; zero if never.
	StatusAt time.Time
	// ours is true if Status was decided here; statuses from the API then only set unconfirmed.
	ours bool
	// unwritten is true if the latest status has not been written to the API.
	unwritten bool
	// unconfirmed is true if the API server last showed another status than the decided one: the watch is late, or another
	// write has replaced the status.
	unconfirmed bool
	// rewrites is the number of times that Status was decided again without a change.
	rewrites int

	// Lost lists the pods that the gang has lost while it was running and that have not been replaced.
	Lost []Lost
	// shareLosses holds the gangs to which this gang lost resources because of its share; see ShareLoss.
	shareLosses map[types.UID]ShareLoss
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

// RewriteTime returns when to write the status again because the API server shows another one. needed is false if the API
// server shows the decided status.
func (g *Gang) RewriteTime() (at time.Time, needed bool) {
	return g.StatusAt.Add(rewriteDelay(g.rewrites)), g.unconfirmed
}

// HasDecidedStatus reports whether Status was decided here rather than read from the API.
func (g *Gang) HasDecidedStatus() bool { return g.ours }

// AllocatedTasks returns the number of tasks that hold resources on a node.
func (g *Gang) AllocatedTasks() int { return g.Count[Binding] + g.Count[Bound] + g.Count[Running] }

// CountReady returns the number of tasks that are placed or have succeeded.
func (g *Gang) CountReady() int { return g.AllocatedTasks() + g.Count[Succeeded] }

// OccupiedResources returns what the gang's pods use on nodes until they have ended, including what is promised to them.
func (g *Gang) OccupiedResources() resource.Vec {
	var sum resource.Balance
	for _, part := range []resource.Balance{g.held, g.leaving, g.lingering} {
		sum.AddBalance(part, 1)
	}
	var occupied resource.Vec
	sum.WriteSumsTo(&occupied)
	return occupied
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
		v.Clear()
	}
	unowned := slices.Clone(g.lingering)
	unowned.AddBalance(g.held, 1)
	unowned.AddBalance(g.promised, -1)
	unowned.WriteSumsTo(&g.contributed.Lingering)
	g.leaving.WriteSumsTo(&g.contributed.Leaving)
	return true
}

// computeSums computes Sums from the tasks' allocations and requests, the phase and minResources.
func (g *Gang) computeSums() {
	g.held.WriteSumsTo(&g.Sums.Allocated)
	g.asked.WriteSumsTo(&g.Sums.Pending)
	g.promised.WriteSumsTo(&g.Sums.Promised)
	g.leaving.WriteSumsTo(&g.Sums.Leaving)
	g.lingering.WriteSumsTo(&g.Sums.Lingering)
	g.Sums.Inqueue.Clear()
	g.Sums.Elastic.Clear()
	reserving := g.Status.Phase == schedulingv1beta1.PodGroupInqueue ||
		(g.Status.Phase == schedulingv1beta1.PodGroupRunning && g.AllocatedTasks() >= g.MinMember)
	if reserving {
		for _, t := range g.MinResources {
			if missing := t.Value - g.Sums.Allocated.Get(int(t.Index)); missing > 0 {
				g.Sums.Inqueue.Add(resource.Request{{Index: t.Index, Value: missing}})
			}
		}
	}
	for i, held := range g.Sums.Allocated {
		if extra := held - g.MinResources.Get(i); extra > 0 {
			g.Sums.Elastic.Add(resource.Request{{Index: int32(i), Value: extra}})
		}
	}
}
