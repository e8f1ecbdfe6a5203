package framework

import (
	"cmp"
	"slices"
	"strings"
	"time"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// Job is a gang during a cycle. It lives as long as the gang, so that state such as being parked, or the time since
// it waits, is kept.
type Job struct {
	*model.Gang
	In    *queue.Queue
	Phase schedulingv1beta1.PodGroupPhase

	// Pending lists the tasks to place, in task order, best-effort ones last. Tasks with scheduling gates are not
	// included.
	Pending []*model.Task
	// AtGate lists the tasks that wait only for their queue's gate.
	AtGate []*model.Task
	// Passed lists the tasks that pass the gate in this cycle.
	Passed []*model.Task
	// Reserved lists the tasks with resources promised in an earlier cycle. They are in Pending as well.
	Reserved []*model.Task
	// Placed and Promised are the results of this cycle.
	Placed   []Placed
	Promised []Placed
	// Released lists the tasks whose promise from an earlier cycle ended in this cycle.
	Released []*model.Task
	// Evicted is the number of its tasks that this cycle evicts; Leaving holds them.
	Evicted int
	Leaving map[*model.Task]bool

	Verdict explain.Verdict
	// Touched is true if the status must be updated at the end of the cycle.
	Touched bool
	// Parked is true if nothing that could help has changed since the last failure.
	Parked bool
	// Unsettled is true if the gang might fit even with fewer free resources, or with pods in other places. It is
	// tried whenever anything changes.
	Unsettled bool
	// ParkedShapes lists the shapes that it still needs nodes for; nil if nodes cannot help.
	ParkedShapes []*model.Shape
	// ReclaimStamp is the session's stamp at the last try to evict for it.
	ReclaimStamp uint64
	// AttackAt is when evictions must be tried again even if nothing changes; zero for never.
	AttackAt time.Time
	// AttachStamp is the session's stamp at the last try.
	AttachStamp uint64
	// QueueStamp is the queue's version at the last try.
	QueueStamp uint64
	// DueAt is when the gang must be tried again even if nothing changes; zero for never.
	DueAt time.Time
	// ShiftStamp changes with the queue's limits. A gang of several shapes may fit a smaller limit better, because
	// its first task is then omitted.
	ShiftStamp uint64

	// Reported holds the last explanation, with its verdict and queue.
	Reported struct {
		Explanation *schedulingv1beta1.Explanation
		Verdict     explain.Verdict
		In          *queue.Queue
	}

	// Since is when it began to wait for the current reason.
	Since    time.Time
	SinceFor string
	// Attempts is the number of tries since then.
	Attempts int
	// SinceExistAt is when the number of its pods last changed, to SinceExist.
	SinceExistAt time.Time
	SinceExist   int
	// TasksSeen is the number of its tasks at the last load.
	TasksSeen int
	// Rank is the order of the gangs when they were last sorted: see SortGangs. No decision depends on it.
	Rank uint64

	opening bool // tasks have passed their queue's gate and the API has not confirmed it yet
	// Remarked holds the last warnings about its annotations, RemarkedAt the generation of its spec at that time.
	Remarked   string
	RemarkedAt uint64
	// CapReported is true if an event was recorded that the PodGroup's priority class does not count.
	CapReported bool

	groups  []*Group
	groupOf map[*model.Task]*Group
	// groupOrder holds the order functions for its groups.
	groupOrder []func(a, b *Group) int

	seen       uint64
	backing    []*model.Task // the array behind Pending, whose front is cut off as tasks are placed
	minimum    model.Request
	minimumGen uint64
	Alone      FitAlone
}

// Placed is a task and its node.
type Placed struct {
	Task *model.Task
	Node model.NodeID
	// Waits is true if the task's resources are promised, and it is bound after other pods have ended.
	Waits bool
}

// Load updates the job from its gang, whose queue is in, with the orders that policies registered in rules.
func (j *Job) Load(in *queue.Queue, rules *Rules) {
	j.In = in
	j.Phase = j.Status.Phase
	if j.Phase == "" {
		j.Phase = schedulingv1beta1.PodGroupPending
	}
	if j.seen == j.Gen {
		return
	}
	j.seen = j.Gen
	if n := j.Count[model.Pending] + j.Count[model.Pipelined]; cap(j.backing) < n {
		j.backing = make([]*model.Task, 0, n)
	}
	j.Pending, j.Reserved, j.AtGate = j.backing[:0], j.Reserved[:0], j.AtGate[:0]
	j.opening = false
	for _, t := range j.Tasks {
		switch {
		case t.AtQueueGate():
			j.AtGate = append(j.AtGate, t)
		case t.Gated:
			j.opening = j.opening || t.Ungating()
		case t.Status == model.Pipelined:
			j.Reserved = append(j.Reserved, t)
			j.Pending = append(j.Pending, t)
		case t.Status == model.Pending:
			j.Pending = append(j.Pending, t)
		}
	}
	slices.SortFunc(j.AtGate, rules.CompareTasks)
	j.loadGroups(rules)
	slices.SortFunc(j.Pending, func(a, b *model.Task) int {
		return cmp.Or(CompareBool(a.Shape.BestEffort, b.Shape.BestEffort), rules.CompareTasks(a, b))
	})
}

// Clear drops the results of the last cycle.
func (j *Job) Clear() {
	j.Placed, j.Promised, j.Evicted = j.Placed[:0], j.Promised[:0], 0
	j.Released, j.Passed = j.Released[:0], nil
	clear(j.Leaving)
	j.Touched = false
}

// CompareBool sorts false before true.
func CompareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// ReadyTasks returns the number of tasks that hold a node or succeeded, including changes of this cycle.
func (j *Job) ReadyTasks() int { return j.Gang.Ready() + len(j.Placed) - j.Evicted }

// Need returns how many more tasks are needed to reach the minimum.
func (j *Job) Need() int { return max(j.MinMember-j.ReadyTasks(), 0) }

// HasRoleMinimums reports whether minTaskMember counts. It does not if minMember is less than the sum.
func (j *Job) HasRoleMinimums() bool {
	if len(j.MinTaskMember) == 0 {
		return false
	}
	sum := 0
	for _, n := range j.MinTaskMember {
		sum += n
	}
	return j.MinMember >= sum
}

// RoleNeeds returns how many more tasks each role needs to reach its minimum; nil if roles do not count or have
// enough.
func (j *Job) RoleNeeds() map[string]int {
	if !j.HasRoleMinimums() {
		return nil
	}
	needs := make(map[string]int, len(j.MinTaskMember))
	for role, n := range j.MinTaskMember {
		needs[role] = n
	}
	for _, t := range j.Tasks {
		if (t.Status.Allocated() || t.Status == model.Succeeded) && !j.Leaving[t] {
			needs[t.Role]--
		}
	}
	for _, p := range j.Placed {
		needs[p.Task.Role]--
	}
	for role, n := range needs {
		if n <= 0 {
			delete(needs, role)
		}
	}
	return needs
}

// Satisfied reports whether the gang has its minimum, including roles and sub-groups.
func (j *Job) Satisfied() bool {
	return j.Need() == 0 && len(j.RoleNeeds()) == 0 && len(j.GroupNeeds()) == 0
}

// Starving reports whether the gang has less than its minimum and has tasks to place.
func (j *Job) Starving() bool { return !j.Satisfied() && len(j.Pending) > 0 }

// Shapes returns the distinct shapes of the pending tasks, in order of first use.
func (j *Job) Shapes() []*model.Shape {
	var shapes []*model.Shape
	for _, t := range j.Pending {
		if len(shapes) == 0 || shapes[len(shapes)-1] != t.Shape {
			if !slices.Contains(shapes, t.Shape) {
				shapes = append(shapes, t.Shape)
			}
		}
	}
	return shapes
}

// AdmitAtOnce reports whether the gang is admitted to its queue.
func (j *Job) IsAdmitted() bool { return j.Phase != schedulingv1beta1.PodGroupPending }

// CompareByAge is the default order of gangs: older first, then by name.
func CompareByAge(a, b *Job) int {
	return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}
