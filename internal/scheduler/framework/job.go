package framework

import (
	"cmp"
	"slices"
	"strings"
	"time"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// Job is a gang during a cycle. A Job exists as long as its gang, in order to keep state between cycles, such as
// whether the gang is parked and how long it has been waiting.
type Job struct {
	*model.Gang
	In    *queue.Queue
	Phase schedulingv1beta1.PodGroupPhase

	// The following fields are copies of the gang's fields, so that a simulation can change them without changing the
	// model.
	MinMember     int
	MinTaskMember map[string]int
	MinResources  resource.Request
	Priority      int32

	// Pending lists the tasks to place in task order, with best-effort tasks last. It does not include tasks that
	// have scheduling gates.
	Pending []*model.Task
	// AtGate lists the tasks that are waiting only for the gate of their queue.
	AtGate []*model.Task
	// Passed lists the tasks that pass the gate of their queue in this cycle.
	Passed []*model.Task
	// Reserved lists the tasks to which resources were promised in an earlier cycle. They are also in Pending.
	Reserved []*model.Task

	CycleResult
	Parking
	Reporting

	// TasksSeen is the number of the gang's tasks at the last load.
	TasksSeen int
	// Rank is the position of the gang when the gangs were last sorted; see SortGangs. No decision depends on it.
	Rank  uint64
	Alone FitAlone

	opening bool // tasks have passed their queue's gate, but the API has not confirmed it yet
	groups  []*Group
	groupOf map[*model.Task]*Group
	// groupOrder holds the functions that order the gang's groups.
	groupOrder []func(a, b *Group) int

	seen       uint64
	backing    []*model.Task // the array behind Pending, from whose front tasks are removed as they are placed
	minimum    resource.Request
	minimumGen uint64
}

// CycleResult holds what the current cycle has decided for a gang.
type CycleResult struct {
	// Placed lists the tasks that will be bound. Promised lists the tasks that are waiting for resources that are
	// being released.
	Placed   []Placed
	Promised []Placed
	// Released lists the tasks whose promise from an earlier cycle has ended in this cycle.
	Released []*model.Task
	// Evicted is the number of the gang's tasks that are evicted in this cycle. Leaving contains these tasks.
	Evicted int
	Leaving map[*model.Task]bool

	Verdict explain.Verdict
	// Touched is true if the status must be updated at the end of the cycle.
	Touched bool
}

// Parking determines when a gang that did not fit is tried again.
type Parking struct {
	// Parked is true if nothing that could help the gang has changed since the last attempt failed.
	Parked bool
	// Unsettled is true if the gang might fit even if fewer resources are free or pods are in other places. It is
	// tried again whenever anything changes.
	Unsettled bool
	// ParkedShapes lists the shapes for which the gang still needs nodes; nil if other nodes cannot help.
	ParkedShapes []*model.Shape
	// ReclaimStamp is the cycle's stamp at the last attempt to evict pods for the gang.
	ReclaimStamp uint64
	// AttackAt is the time at which evictions must be tried again even if nothing changes; zero means never.
	AttackAt time.Time
	// AttachStamp is the session's stamp for volumes and devices at the last attempt.
	AttachStamp uint64
	// QueueStamp is the version of the queue at the last attempt.
	QueueStamp uint64
	// DueAt is the time at which the gang must be tried again even if nothing changes; zero means never.
	DueAt time.Time
	// ShiftStamp changes with the limits of the queue. A gang with multiple shapes may fit better if a limit is
	// lower, because its first task is then omitted.
	ShiftStamp uint64
}

// Reporting holds what was reported about a gang.
type Reporting struct {
	// Reported holds the last reported explanation, with its verdict and queue. LacksForecast is true if the gang's
	// start had not been forecast yet.
	Reported struct {
		Explanation *schedulingv1beta1.Explanation
		Verdict     explain.Verdict
		In          *queue.Queue

		LacksForecast bool
	}
	// Since is the time from which the gang has been waiting for the current reason. SinceFor is that reason.
	Since    time.Time
	SinceFor string
	// Attempts is the number of attempts since that time.
	Attempts int
	// SinceExistAt is the time when the number of the gang's pods last changed; SinceExist is that number.
	SinceExistAt time.Time
	SinceExist   int
	// Remarked holds the last warnings about the gang's annotations; RemarkedAt is the generation of its spec at that
	// time.
	Remarked   string
	RemarkedAt uint64
	// CapReported is true if an event has reported that the PodGroup's priority class is not taken into account.
	CapReported bool
}

// Placed is a task together with its node.
type Placed struct {
	Task *model.Task
	Node model.NodeID
	// Waits is true if the resources are only promised, so that the task is bound after other pods have ended.
	Waits bool
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

// ReadyTasks returns the number of tasks that hold a node or have succeeded, including the changes in this cycle.
func (j *Job) ReadyTasks() int { return j.Gang.CountReady() + len(j.Placed) - j.Evicted }

// Need returns the number of additional tasks that the gang needs to reach its minimum.
func (j *Job) Need() int { return max(j.MinMember-j.ReadyTasks(), 0) }

// HasRoleMinimums reports whether minTaskMember applies, which is not the case if minMember is less than its sum.
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

// RoleNeeds returns the number of additional tasks that each role needs to reach its minimum. It returns nil if role
// minimums do not apply or are all reached.
func (j *Job) RoleNeeds() map[string]int {
	if !j.HasRoleMinimums() {
		return nil
	}
	needs := make(map[string]int, len(j.MinTaskMember))
	for role, n := range j.MinTaskMember {
		needs[role] = n
	}
	for _, t := range j.Tasks {
		if (t.Status.IsAllocated() || t.Status == model.Succeeded) && !j.Leaving[t] {
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

// IsSatisfied reports whether the gang has reached its minimum, including the minimums of roles and sub-groups.
func (j *Job) IsSatisfied() bool {
	return j.Need() == 0 && len(j.RoleNeeds()) == 0 && len(j.GroupNeeds()) == 0
}

// IsStarving reports whether the gang is below its minimum and has tasks to place.
func (j *Job) IsStarving() bool { return !j.IsSatisfied() && len(j.Pending) > 0 }

// PendingShapes returns the distinct shapes of the pending tasks, in order of first use.
func (j *Job) PendingShapes() []*model.Shape {
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

// IsAdmitted reports whether the gang is admitted to its queue.
func (j *Job) IsAdmitted() bool { return j.Phase != schedulingv1beta1.PodGroupPending }

// CompareByAge implements the default order of gangs: older gangs first, then by name.
func CompareByAge(a, b *Job) int {
	return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// Group is a sub-group, which is a gang within a gang. Its pods are placed together up to its size, and individually
// beyond that.
type Group struct {
	Name   string
	Policy *model.SubGroupPolicy
	Tasks  []*model.Task
	// Held is the number of tasks that hold a node or have succeeded, including the placements in this cycle.
	Held int

	order int  // index of its policy
	loose bool // its pods need not start together
	index int  // its index among the policy's groups; -1 if it has none
}
