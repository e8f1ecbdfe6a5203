package placement

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// round is one try at placing a gang.
type round struct {
	s      *Placer
	job    *framework.Job
	filter session.Filter
	limits Limits

	placed       []framework.Placed
	promises     int
	failed       []*model.Shape
	queueVerdict explain.Verdict
	nodeVerdict  explain.Verdict
	roleNeeds    map[string]int
	need         int
	extra        bool           // the gang has its minimum, so one more task is enough
	fit          int            // number of tasks placed by the first try
	front        []*model.Shape // shapes to place first
	quiet        bool           // the reason for a failure is not needed
	atHome       bool           // tasks go to the nodes where they were promised resources, if possible
	now          bool           // do not wait for resources that are being released
	sub          *structure     // for a structured gang
	slots        map[*model.Shape][]int
	preferred    Preference // resources to use before all others; nil for none
}

// placeOnce tries once to place the selected tasks.
func (r *round) placeOnce() {
	r.roleNeeds = r.job.RoleNeeds()
	r.need = r.job.Need()
	if !r.s.Rules.Gang {
		r.need, r.roleNeeds = 0, nil
	}
	r.extra = r.need == 0 && len(r.roleNeeds) == 0
	if len(r.roleNeeds) > 0 {
		r.placeTasks(func(t *model.Task) bool { return r.roleNeeds[t.Role] > 0 })
	}
	done := make(map[*model.Task]bool, 0)
	if len(r.placed) > 0 {
		for _, p := range r.placed {
			done[p.Task] = true
		}
	}
	if r.hasEnough() && len(r.placed) > 0 {
		return
	}
	r.placeTasks(func(t *model.Task) bool { return len(done) == 0 || !done[t] })
}

// placeTasks tries the selected tasks in order until enough are placed.
func (r *round) placeTasks(partOf func(*model.Task) bool) {
	for _, t := range r.orderedTasks() {
		if len(r.placed) > 0 && r.hasEnough() {
			return
		}
		if !r.isSelected(t) || !partOf(t) || r.hasFailed(t) {
			continue
		}
		r.placeTask(t)
	}
}

// isSelected reports whether a task takes part in the round.
func (r *round) isSelected(t *model.Task) bool { return r.filter == nil || r.filter(t) }

// hasFailed reports whether an equal task found no node.
func (r *round) hasFailed(t *model.Task) bool {
	return slices.Contains(r.failed, t.Shape) && !r.s.DependsOnTask(r.job, t)
}

// hasEnough reports whether enough tasks are placed.
func (r *round) hasEnough() bool {
	if r.extra {
		return len(r.placed) > 0
	}
	if r.sub != nil && len(r.sub.missing) > 0 {
		return false
	}
	for _, n := range r.roleNeeds {
		if n > 0 {
			return false
		}
	}
	return len(r.placed) >= r.need
}

// placeTask places one task or records why it cannot.
func (r *round) placeTask(t *model.Task) {
	s, q := r.s, r.job.In
	if v := s.Constraints.MayAllocate(r.job, t.Shape.Request); r.limits.appliesTo(v) && !s.mayHoldAgain(&v, q.Allocated, t.Shape.Request) {
		r.recordBlocked(t, v)
		r.failed = append(r.failed, t.Shape)
		return
	}
	if v := s.Constraints.CheckReserved(r.job, t); v.Code != "" {
		r.recordBlocked(t, v)
		r.failed = append(r.failed, t.Shape)
		return
	}
	wait := s.mustWait(r.job, t.Shape.Request)
	node, later, ok := r.findNode(t)
	if wait.Code != "" && ok && !r.mayWait(t) {
		r.recordBlocked(t, wait)
		r.failed = append(r.failed, t.Shape)
		return
	}
	later = later || wait.Code != ""
	if later && !r.mayWait(t) {
		ok = false
	}
	if !ok {
		if !r.quiet {
			r.recordUnplaced(t)
		}
		r.failed = append(r.failed, t.Shape)
		return
	}
	if later {
		r.promises++
	}
	p := framework.Placed{Task: t, Node: node, Waits: later}
	s.takeResources(r.job, p)
	s.CountPlacedPod(t, node)
	s.NotifyPlaced(r.job, t, node, 1)
	r.placed = append(r.placed, p)
	if n, ok := r.roleNeeds[t.Role]; ok {
		r.roleNeeds[t.Role] = n - 1
	}
}

// takeResources reserves a task's resources on its node and in its queue.
func (s *Placer) takeResources(j *framework.Job, p framework.Placed) {
	j.In.AddAllocated(p.Task.Shape.Request, 1)
	if p.Waits {
		s.View.PromiseReleasing(p.Node, p.Task)
		return
	}
	s.View.AssignIdle(p.Node, p.Task)
	j.In.AddOccupied(p.Task.Shape.Request, 1)
}

// mustWait returns why a gang's queue must wait for its own pods to end before it may hold more. It never does so in
// a forecast, because these pods are assumed to have ended.
func (s *Placer) mustWait(j *framework.Job, asked resource.Request) explain.Verdict {
	if s.InForecast() {
		return explain.Verdict{}
	}
	return s.Rules.MustWait(j.In, asked)
}

// mayWait reports whether resources may be promised to a task that must wait for other pods to end. Resources are
// not promised for more than the gang's minimum.
func (r *round) mayWait(t *model.Task) bool {
	if r.now {
		return false
	}
	return !r.extra || r.s.trial.Grow || t.Status == model.Pipelined
}

// recordUnplaced records why a task found no node. The first reason is kept. It records that a task is too large for
// every node only if there is no other reason, because the gang may not need that task.
func (r *round) recordUnplaced(t *model.Task) {
	if r.needsReason(t) {
		r.nodeVerdict = r.s.JudgeNodes(r.job, t)
	}
}

// needsReason reports whether the reason why a task found no node must be recorded.
func (r *round) needsReason(t *model.Task) bool {
	return r.nodeVerdict.Code == "" || (r.nodeVerdict.Code == reason.TooLarge && !r.s.IsTooLarge(t.Shape))
}

// recordBlocked records a limit of the queue that a task exceeds. If the limit is the whole cluster, the nodes lack
// resources, and the reasons of the nodes are recorded instead, because they are more specific.
func (r *round) recordBlocked(t *model.Task, v explain.Verdict) {
	if r.quiet {
		return
	}
	if r.s.IsTooLarge(t.Shape) {
		r.recordUnplaced(t)
		return
	}
	if v.Limit != nil && v.Limit.Cluster {
		if r.needsReason(t) {
			if n := r.s.JudgeNodes(r.job, t); n.Tally.Fit == 0 {
				r.nodeVerdict = n
				return
			}
		} else {
			return
		}
	}
	if r.queueVerdict.Code == "" {
		r.queueVerdict = r.forWholeGang(v)
	}
}

// forWholeGang converts a limit that a task exceeds to its meaning for the gang. The resources that this try has
// placed count as requested, not as held.
func (r *round) forWholeGang(v explain.Verdict) explain.Verdict {
	if v.Limit == nil || v.Limit.Quota != "" || v.Limit.Node {
		return v
	}
	index, ok := r.s.Cluster.Resources.Find(v.Limit.Resource)
	if !ok {
		return v
	}
	limit := *v.Limit
	for _, p := range r.placed {
		if p.Task.Status != model.Pipelined { // promised tasks are already counted in the queue
			limit.Held -= limit.InUnits(float64(p.Task.Shape.Request.Get(index)))
		}
	}
	limit.Asked = max(limit.Asked, limit.InUnits(float64(r.requestedTotal().Get(index))))
	limit.Least = limit.InUnits(r.leastRequest(index)) // smaller pods, or other pods than this one, may fit
	v.Limit = &limit
	return v
}

// leastRequest returns how much of a resource the gang must request to reach its minimum with its smallest pods.
func (r *round) leastRequest(index int) float64 {
	return session.LeastRequest(r.job.Pending, r.filter, r.need, index)
}

func (r *round) undoPlacements(mark int) {
	r.s.StartTry()
	for i := len(r.placed) - 1; i >= 0; i-- {
		r.s.NotifyPlaced(r.job, r.placed[i].Task, r.placed[i].Node, -1)
		r.s.UncountPlacedPod(r.placed[i].Task, r.placed[i].Node)
		r.job.ReleasePlacement(r.placed[i])
	}
	r.s.View.Rollback(mark)
}

// isBlockedByNodes reports whether the nodes, and not a limit of the queue, explain why the round failed. This is the
// case if some of the tasks fit and the others are not merely too large for the nodes.
func (r *round) isBlockedByNodes() bool {
	switch r.nodeVerdict.Code {
	case "", reason.TooLarge:
		return false
	}
	return max(r.fit, len(r.placed)) > 0
}

// failureVerdict returns why the round failed.
func (r *round) failureVerdict() explain.Verdict {
	v := r.nodeVerdict
	if r.queueVerdict.Code != "" && !r.isBlockedByNodes() {
		v = r.queueVerdict
	}
	if never, ok := r.s.NeverStarts(r.job); ok {
		if v.Code == reason.TooLarge && never.Limit != nil { // pods of other shapes may be too large for other reasons
			v.Limit, v.More = never.Limit, never.More
		} else if v.Code != reason.TooLarge {
			v = never
		}
	}
	v = r.s.Constraints.ExplainReserved(r.job, v)
	if r.filter == nil && !r.extra {
		r.s.ExplainExceeded(r.job, &v)
	}
	v.Members = r.s.Members(r.job, max(r.fit, len(r.placed)))
	v.Asked = r.requestedTotal()
	return v
}

// requestedTotal returns the total request of the tasks that the round wanted to place.
func (r *round) requestedTotal() resource.Vec {
	var sum resource.Vec
	n := 0
	limit := max(r.need, 1)
	for _, t := range r.job.Pending {
		if r.filter != nil && !r.filter(t) {
			continue
		}
		if n == limit {
			break
		}
		sum.Add(t.Shape.Request)
		n++
	}
	return sum
}

// structure holds the counts of a round of a structured gang.
type structure struct {
	missing map[*model.SubGroupPolicy]int // number of missing groups
	placed  map[*framework.Group]int
	done    map[*model.Task]bool
	pending map[*framework.Group][]*model.Task
	// hopeless holds, for each policy, how many pods of a group did not fit together.
	hopeless map[*model.SubGroupPolicy]int
	// short is the group that failed first; shortIn is the HyperNode that was tried for it.
	short   *framework.Group
	shortIn string
}

// findNode returns the node for a task.
func (r *round) findNode(t *model.Task) (node model.NodeID, later, ok bool) {
	s := r.s
	if node, ok = r.findPreferred(t); ok {
		return node, false, true
	}
	if r.atHome && t.Status == model.Pipelined {
		now, wait := s.InForecast(), !s.InForecast() && (s.View.Releasing > 0 || s.IsEvicting())
		if node, ok = s.BestAmong([]model.NodeID{t.Node}, r.job, t, now); ok {
			return node, false, true
		}
		if wait {
			if node, ok = s.BestAmong([]model.NodeID{t.Node}, r.job, t, true); ok {
				return node, true, true
			}
		}
	}
	return s.FindNode(r.job, t)
}

// orderedTasks returns the pending tasks, starting with the shapes in front.
func (r *round) orderedTasks() []*model.Task {
	if len(r.front) == 0 {
		return r.job.Pending
	}
	ordered := make([]*model.Task, 0, len(r.job.Pending))
	for _, shape := range r.front {
		for _, t := range r.job.Pending {
			if t.Shape == shape {
				ordered = append(ordered, t)
			}
		}
	}
	for _, t := range r.job.Pending {
		if !slices.Contains(r.front, t.Shape) {
			ordered = append(ordered, t)
		}
	}
	return ordered
}

// findPreferred returns the node that a task is to use before all others, if there is one. A round in a part of the
// cluster has no such nodes.
func (r *round) findPreferred(t *model.Task) (model.NodeID, bool) {
	if r.s.Scope != nil {
		return model.NoNode, false
	}
	if r.preferred != nil {
		return r.preferred.FindNode(r.job, t)
	}
	return r.s.Constraints.FindLentNode(r.job, t)
}

// mayHoldAgain reports whether a queue may exceed a limit because it held the requested amount before. It may not exceed its
// capability for this reason, because the victims may still use it, or it may have been lowered.
func (s *Placer) mayHoldAgain(v *explain.Verdict, held []float64, asked resource.Request) bool {
	isAboutResource := v.Limit != nil && v.Limit.Resource != "" && !reason.Get(v.Code).Has(reason.LimitOfAccount)
	if s.trial.Swap == nil || !isAboutResource || isCapability(v) {
		return false
	}
	for _, t := range asked {
		if held[t.Index]+float64(t.Value) > s.trial.Swap[t.Index]+queue.Epsilon {
			return false
		}
	}
	return true
}

// isCapability reports whether a verdict names the capability in the spec of a queue, and not what the guarantees of other
// queues leave of it.
func isCapability(v *explain.Verdict) bool {
	return v.Code == reason.OverCapability && v.Limit.Kept == 0
}
