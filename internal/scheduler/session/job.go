package session

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

// Job is a gang during a cycle. It lives as long as its gang, so that what was
// learned about it (parked, since when it waits) is kept.
type Job struct {
	*model.Gang
	In    *queue.Queue
	Phase schedulingv1beta1.PodGroupPhase

	// Pending are the tasks to place, in task order, best-effort ones last; tasks
	// with gates are not among them.
	Pending []*model.Task
	// AtGate are tasks that wait for nothing but their queue's gate.
	AtGate []*model.Task
	// Passed are those that this cycle lets through.
	Passed []*model.Task
	// Reserved are tasks that are promised room since an earlier cycle. They are
	// in Pending as well.
	Reserved []*model.Task
	// Placed and Promised are what this cycle gave to it.
	Placed   []Placed
	Promised []Placed
	// Released are tasks whose reservation of an earlier cycle ended in this one.
	Released []*model.Task
	// Evicted counts the tasks that this cycle takes from it, and Leaving are they.
	Evicted int
	Leaving map[*model.Task]bool

	Verdict explain.Verdict
	// Touched: the status is to be looked at when the cycle closes.
	Touched bool
	// Parked: nothing changed that could help since it failed.
	Parked bool
	// Unsettled: it did not fit, but could in another state of things with less room,
	// or with other pods elsewhere. It is tried whenever anything happens.
	Unsettled bool
	// ParkedShapes are what it still needs nodes for; nil when nodes cannot help.
	ParkedShapes []*model.Shape
	// ReclaimStamp is the session's at the last try to evict for it.
	ReclaimStamp uint64
	// AttackAt is when evictions are to be tried again although nothing changed; zero: not.
	AttackAt time.Time
	// AttachStamp is the session's at the last try.
	AttachStamp uint64
	// QueueStamp is the queue's stamp at the last try.
	QueueStamp uint64
	// DueAt is when it is to be tried again although nothing changes; zero: never.
	DueAt time.Time
	// ShiftStamp changes with the queue's limits. A gang of several shapes may fit a smaller limit better: its
	// first task is then left out.
	ShiftStamp uint64

	// Told is the explanation that was last made, of which verdict, and for which queue.
	Told struct {
		Explanation *schedulingv1beta1.Explanation
		Verdict     explain.Verdict
		In          *queue.Queue
	}

	// Since is when it began to wait for the present reason.
	Since    time.Time
	SinceFor string
	// Attempts is how often it was tried since.
	Attempts int
	// SinceExistAt is when the number of its pods last changed, to SinceExist.
	SinceExistAt time.Time
	SinceExist   int
	// TasksSeen is how many tasks it had when it was last looked at.
	TasksSeen int

	opening bool // tasks have passed their queue's gate and the API does not say so yet
	// Remarked is what was said of its annotations, RemarkedAt the generation of its spec then.
	Remarked   string
	RemarkedAt uint64
	// CapTold says that it was recorded that the PodGroup's priority class does not count.
	CapTold bool

	groups  []*Group
	groupOf map[*model.Task]*Group
	// groupOrder is in which order they are placed.
	groupOrder []func(a, b *Group) int

	seen       uint64
	backing    []*model.Task // of Pending, whose front is cut off as tasks are placed
	minimum    model.Request
	minimumGen uint64
	alone      fitAlone
}

// Placed is a task and its node.
type Placed struct {
	Task *model.Task
	Node model.NodeID
	// Waits says that the task is promised its room, and is bound when others have ended.
	Waits bool
}

// Load brings the job up to date with its gang.
func (j *Job) Load(s *Session) {
	j.In = s.Ledger.Of(j.Gang.Queue)
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
	slices.SortFunc(j.AtGate, s.Rules.compareTasks)
	j.loadGroups(&s.Rules)
	slices.SortFunc(j.Pending, func(a, b *model.Task) int {
		return cmp.Or(compareBool(a.Shape.BestEffort, b.Shape.BestEffort), s.Rules.compareTasks(a, b))
	})
}

// Clear forgets what the last cycle did.
func (j *Job) Clear() {
	j.Placed, j.Promised, j.Evicted = j.Placed[:0], j.Promised[:0], 0
	j.Released, j.Passed = j.Released[:0], nil
	clear(j.Leaving)
	j.Touched = false
}

// compareBool sorts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// ReadyTasks counts the tasks that hold a node or ended well, with what this cycle did.
func (j *Job) ReadyTasks() int { return j.Gang.Ready() + len(j.Placed) - j.Evicted }

// Need is how many more tasks it takes to its minimum.
func (j *Job) Need() int { return max(j.MinMember-j.ReadyTasks(), 0) }

// roleMinimums says whether minTaskMember counts: not when minMember is less
// than their sum.
func (j *Job) roleMinimums() bool {
	if len(j.MinTaskMember) == 0 {
		return false
	}
	sum := 0
	for _, n := range j.MinTaskMember {
		sum += n
	}
	return j.MinMember >= sum
}

// RoleNeeds is how many more tasks each role takes to its minimum; nil when
// roles do not matter or have enough.
func (j *Job) RoleNeeds() map[string]int {
	if !j.roleMinimums() {
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

// Satisfied says whether the gang has its minimum, roles and sub-groups included.
func (j *Job) Satisfied() bool {
	return j.Need() == 0 && len(j.RoleNeeds()) == 0 && len(j.GroupNeeds()) == 0
}

// Starving says whether it runs with less than its minimum and has tasks to place.
func (j *Job) Starving() bool { return !j.Satisfied() && len(j.Pending) > 0 }

// Shapes are the distinct shapes of the pending tasks, in order of first sight.
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

// LetIn says whether the gang has passed the gate of its queue.
func (j *Job) LetIn() bool { return j.Phase != schedulingv1beta1.PodGroupPending }

// compareJobs is the order when no policy has one: older first, then by name.
func compareJobs(a, b *Job) int {
	return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}
