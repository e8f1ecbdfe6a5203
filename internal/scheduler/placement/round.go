package placement

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Outcome is the result of a round.
type Outcome int

// The outcomes of a round.
const (
	Failed   Outcome = iota // nothing was placed
	Kept                    // tasks were placed and will be bound
	Reserved                // the gang fits after releases; the resources are promised to it
)

// Limits selects which limits of the queue count in a round.
type Limits int

// Share counts all limits; Capability counts the queue's capability but not its share.
const (
	Share Limits = iota
	Capability
)

// appliesTo reports whether a verdict is about a limit that counts.
func (l Limits) appliesTo(v explain.Verdict) bool {
	return v.Code != "" && (l == Share || v.Code != reason.OverDeserved)
}

// PlaceGang places as many of a job's tasks as bring it to its minimum, or one more task if it has its minimum. It
// places all of them or none: after Failed the session is unchanged and the job's verdict holds the reason.
func (s *Placer) PlaceGang(j *framework.Job, filter session.Filter, limits Limits) Outcome {
	s.Tried++
	if filter == nil {
		j.Attempts++
	}
	mayReserve := limits == Share && s.IsOverdue(j) // even if it does not fit
	if v, known := s.knownFailure(j); known && filter == nil && !mayReserve {
		j.Unsettled = false
		s.SetVerdict(j, v)
		return Failed
	}
	keepsRoom := filter == nil && limits == Share && s.Constraints.FirstOverdue() == j
	defer s.Constraints.UseHeldResources(j)()
	if filter == nil {
		if len(j.Reserved) > 0 && s.trial.Swap == nil { // it may use what it was promised
			s.trial.Swap = slices.Clone(j.In.Allocated)
			defer func() { s.trial.Swap = nil }()
		}
		s.withdrawPromises(j)
	}
	mark := s.View.Mark()
	r := round{s: s, job: j, filter: filter, limits: limits, placed: s.roundsOf[:0]}
	r.tryOrders()
	s.roundsOf = r.placed
	if len(r.placed) > 0 && r.hasEnough() {
		if v := s.Rules.MayStart(j); v.Code != "" {
			v.Members = s.Members(j, len(r.placed))
			r.undoPlacements(mark)
			s.dropOldPromises(j)
			s.SetVerdict(j, v)
			return Failed
		}
	}
	switch {
	case r.hasEnough() && len(r.placed) > 0 && r.promises == 0:
		s.commitPlaced(j, r.placed)
		return Kept
	case r.hasEnough() && len(r.placed) > 0 && filter == nil:
		s.commitPromised(j, r.placed)
		return Reserved
	}
	v := r.failureVerdict()
	if keepsRoom && v.Code != reason.TooLarge && s.IsOverdue(j) {
		j.Unsettled = true     // how many of its pods find resources, and where, may change with fewer resources too
		if r.placePart(mark) { // what is already free is reserved for it
			v = r.failureVerdict()
			v.Detail = "nothing needs to be done: it has exceeded its maximum waiting time, so free resources are reserved for it"
			s.commitPromised(j, r.placed)
			s.SetVerdict(j, v)
			return Reserved
		}
	}
	r.undoPlacements(mark)
	if filter != nil && len(j.Promised)+len(j.Reserved) > 0 { // the gang waits for these resources, not for the filtered tasks
		return Failed
	}
	v = s.Constraints.ExplainHeld(j, v, limits)
	s.cacheFailure(j, &r, v)
	if filter == nil {
		s.dropOldPromises(j)
	}
	s.SetVerdict(j, v)
	return Failed
}

// WouldFit runs a round and undoes it. It reports whether the gang would fit now.
func (s *Placer) WouldFit(j *framework.Job) bool {
	mark := s.View.Mark()
	r := round{s: s, job: j, placed: s.roundsOf[:0]}
	r.tryOrders()
	s.roundsOf = r.placed
	ok := r.hasEnough() && len(r.placed) > 0
	r.undoPlacements(mark)
	return ok
}

// WouldStart reports whether a round would place the gang now, without waiting for resources that are being released,
// and how many tasks it placed. It undoes the round.
func (s *Placer) WouldStart(j *framework.Job, limits Limits) (starts bool, placed int) {
	unsettled, mark := j.Unsettled, s.View.Mark()
	r := round{s: s, job: j, quiet: true, limits: limits}
	r.tryOrders()
	placed = len(r.placed)
	starts = r.hasEnough() && placed > 0 && r.promises == 0
	r.undoPlacements(mark)
	j.Unsettled = unsettled
	return starts, placed
}

// placePart places what can be placed of a gang that does not fit as a whole. It reports whether that is anything.
func (r *round) placePart(mark int) bool {
	if r.extra {
		return false
	}
	if len(r.placed) == 0 { // the last of several tries was undone
		r.startOver(mark)
		r.placeOnce()
	}
	return len(r.placed) > 0
}

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
	quiet        bool           // the reason of a failure is not needed
	atHome       bool           // tasks go to the nodes where they were promised resources, if possible
	now          bool           // do not wait for resources that are being released
	sub          *structure     // for a structured gang
	slots        map[*model.Shape][]int
	preferred    Preference // resources to use before all others; nil for none
}

// placeOnce tries the participating tasks once.
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

// placeTasks tries the participating tasks in order until enough are placed.
func (r *round) placeTasks(partOf func(*model.Task) bool) {
	for _, t := range r.orderedTasks() {
		if len(r.placed) > 0 && r.hasEnough() {
			return
		}
		if r.filter != nil && !r.filter(t) || !partOf(t) || r.hasFailed(t) {
			continue
		}
		r.placeTask(t)
	}
}

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
	if v := s.Constraints.MayAllocate(r.job, t.Shape.Request); r.limits.appliesTo(v) && !s.mayHoldAgain(&v, s.heldForLimit(&v, q), t.Shape.Request) {
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

// mustWait returns why a gang's queue must wait for its own pods to end before it may hold more. In a forecast
// these have ended.
func (s *Placer) mustWait(j *framework.Job, asked model.Request) explain.Verdict {
	if s.InForecast() {
		return explain.Verdict{}
	}
	v := s.Rules.MustWait(j.In, asked)
	if own := v.Limit != nil && v.Limit.Queue == j.In.Name; own && s.mayHoldAgain(&v, j.In.Occupied, asked) {
		return explain.Verdict{} // its queue exceeds its capability, and holds no more than before
	}
	return v
}

// mayWait reports whether resources may be promised to a task that must wait for other pods to end. Resources are
// not promised for more than the gang's minimum.
func (r *round) mayWait(t *model.Task) bool {
	return !r.now && (!r.extra || r.s.trial.Grow || t.Status == model.Pipelined)
}

// recordUnplaced records why a task found no node. The first reason is kept. A task that is too large for every node is
// reported only if there is no other reason, because the gang may not need it.
func (r *round) recordUnplaced(t *model.Task) {
	if r.needsReason(t) {
		r.nodeVerdict = r.s.JudgeNodes(r.job, t)
	}
}

// needsReason reports whether the reason of a task that found no node must be recorded.
func (r *round) needsReason(t *model.Task) bool {
	return r.nodeVerdict.Code == "" || r.nodeVerdict.Code == reason.TooLarge && !r.s.IsTooLarge(t.Shape)
}

// recordBlocked records a limit of the queue that a task exceeds. If the limit is the whole cluster, the nodes are
// short of resources, and their reason is more specific.
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

// forWholeGang converts a limit that a task exceeds to its meaning for the gang: what this try had placed counts as
// requested, not as held.
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
			limit.Held -= float64(p.Task.Shape.Request.Get(index))
		}
	}
	limit.Asked = max(limit.Asked, float64(r.requestedTotal().Get(index)))
	limit.Least = r.leastRequest(index) // smaller pods, or other pods than this one, may fit
	v.Limit = &limit
	return v
}

// LeastRequest returns what the smallest pods that would bring the gang to its minimum request of a resource.
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

// failureVerdict returns why the round failed.
func (r *round) failureVerdict() explain.Verdict {
	v := r.nodeVerdict
	if v.Code == "" || r.queueVerdict.Code != "" && (max(r.fit, len(r.placed)) == 0 || v.Code == reason.TooLarge) {
		if r.queueVerdict.Code != "" {
			v = r.queueVerdict
		}
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
func (r *round) requestedTotal() model.Vec {
	var sum model.Vec
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
