package placement

import (
	"maps"
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// A structured gang has a network topology, or sub-groups that are placed as a whole. Its domains are tried one after
// another, the narrowest first. Placements that do not suffice are undone.

// point is a state of a round to which the round can return.
type point struct {
	mark, placed, promises int
	failed                 int
}

func (r *round) currentPoint() point {
	return point{r.s.View.Mark(), len(r.placed), r.promises, len(r.failed)}
}

// rollBackTo undoes the placements after a point.
func (r *round) rollBackTo(p point) {
	for i := len(r.placed) - 1; i >= p.placed; i-- {
		t := r.placed[i].Task
		r.s.NotifyPlaced(r.job, t, r.placed[i].Node, -1)
		r.s.UncountPlacedPod(t, r.placed[i].Node)
		r.job.ReleasePlacement(r.placed[i])
		delete(r.sub.done, t)
		if g := r.job.GroupOf(t); g != nil {
			r.sub.placed[g]--
		}
		if n, counts := r.roleNeeds[t.Role]; counts {
			r.roleNeeds[t.Role] = n + 1
		}
	}
	r.s.View.Rollback(p.mark)
	r.placed, r.promises, r.failed = r.placed[:p.placed], p.promises, r.failed[:p.failed]
	r.s.Scope.ForgetFull()
}

// placeStructured places a structured gang in the first domain in which it fits.
func (r *round) placeStructured() {
	s, j := r.s, r.job
	outer := s.Scope
	defer func() { s.Scope = outer }()
	var from *model.Domain
	if outer != nil {
		from = outer.Domain
	}
	held := s.NodesOf(j, nil)
	tiers, v := s.PermittedTiers(j.Topology, held, from)
	if v.Code != "" {
		r.countMissing()
		r.nodeVerdict = v
		return
	}
	start := r.currentPoint()
	j.Unsettled = false
	near, quiet := nearest{fit: -1}, r.quiet
	_, shape, count := r.countByShape(r.minimumTasks())
	wanted, _, _ := r.countByShape(r.candidateTasks())
	r.quiet = true
	for _, tier := range tiers {
		s.SortByScore(tier, j, j.MinimumRequest())
		for _, now := range r.releasePasses() {
			r.now = now
			for _, d := range tier {
				if fit := r.upperBound(d, wanted); fit < count {
					near.recordFit(d, fit)
					continue
				}
				r.enterDomain(d, held, shape, count)
				r.placeMissing()
				j.Unsettled = true // another order may fit with fewer free resources
				if r.hasEnough() && len(r.placed) > 0 {
					r.quiet, j.Unsettled = quiet, false
					return
				}
				near.recordFit(d, len(r.placed))
				r.rollBackTo(start)
			}
		}
	}
	r.now, r.quiet = false, quiet
	if v, ok := r.findBrokenHyperNode(wanted, count); ok {
		r.countMissing()
		r.nodeVerdict = v
		return
	}
	r.enterDomain(near.domain, held, shape, count)
	r.placeMissing()
	r.nameShortage(near.domain)
}

// nearest is the domain that could take the largest part of a gang. Of several such domains, it is the widest.
type nearest struct {
	domain *model.Domain
	fit    int
}

func (n *nearest) recordFit(d *model.Domain, fit int) {
	isWider := d != nil && n.domain != nil && d.Tier > n.domain.Tier
	if fit > n.fit || (fit == n.fit && isWider) {
		n.domain, n.fit = d, fit
	}
}

// releasePasses returns the passes over a tier; true stands for a pass that does not wait for resources to be
// released. If resources are being released, such a pass comes first.
func (r *round) releasePasses() []bool {
	if r.s.View.Releasing > 0 && !r.s.IsEvicting() && !r.s.InForecast() {
		return []bool{true, false}
	}
	return []bool{false}
}

// minimumTasks returns the tasks that the round must place together.
func (r *round) minimumTasks() []*model.Task {
	var tasks []*model.Task
	for _, t := range r.job.MinimumTasks() {
		if r.filter == nil || r.filter(t) {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// candidateTasks returns the tasks that the round may place. If a task of the minimum finds no node, another task may
// replace it.
func (r *round) candidateTasks() []*model.Task {
	if r.filter == nil {
		return r.job.Pending
	}
	return slices.DeleteFunc(slices.Clone(r.job.Pending), func(t *model.Task) bool { return !r.filter(t) })
}

// countByShape counts tasks by shape, and returns the most frequent shape.
func (r *round) countByShape(tasks []*model.Task) (counts map[*model.Shape]int, most *model.Shape, total int) {
	counts = map[*model.Shape]int{}
	if !r.s.Rules.Gang {
		return counts, nil, 0
	}
	for _, t := range tasks {
		counts[t.Shape]++
	}
	for _, t := range tasks { // in the order of the tasks
		if most == nil || counts[t.Shape] > counts[most] {
			most = t.Shape
		}
	}
	return counts, most, len(tasks)
}

// countMissing counts what the gang lacks.
func (r *round) countMissing() {
	j := r.job
	r.roleNeeds, r.need = maps.Clone(j.RoleNeeds()), j.Need()
	r.sub = &structure{
		missing: j.GroupNeeds(), placed: map[*framework.Group]int{}, done: map[*model.Task]bool{},
		pending: map[*framework.Group][]*model.Task{}, hopeless: map[*model.SubGroupPolicy]int{},
	}
	if !r.s.Rules.Gang {
		r.need, r.roleNeeds, r.sub.missing = 0, nil, nil
	}
	for _, t := range j.Pending {
		if g := j.GroupOf(t); g != nil && (r.filter == nil || r.filter(t)) {
			r.sub.pending[g] = append(r.sub.pending[g], t)
		}
	}
	r.extra = r.need == 0 && len(r.roleNeeds) == 0 && len(r.sub.missing) == 0
}

// placeMissing places the tasks that the gang lacks in the current scope. It places the groups that must start first,
// then tasks of roles below their minimum, then the remaining tasks.
func (r *round) placeMissing() {
	r.countMissing()
	for _, g := range r.job.GroupsInOrder() {
		if r.sub.missing[g.Policy] > 0 && r.missingPods(g) > 0 {
			r.placeWholeGroup(g)
		}
	}
	if len(r.sub.missing) > 0 {
		return
	}
	if len(r.roleNeeds) > 0 {
		r.placeUnits(func(t *model.Task) bool { return r.roleNeeds[t.Role] > 0 })
	}
	r.placeUnits(func(*model.Task) bool { return true })
}

// placeUnits tries tasks in order until enough are placed. It tries a task alone if it has no group or its group has
// reached its size; otherwise, it tries the task together with its group.
func (r *round) placeUnits(partOf func(*model.Task) bool) {
	for _, t := range r.job.Pending {
		if len(r.placed) > 0 && r.hasEnough() {
			return
		}
		if !r.isSelected(t) || !partOf(t) {
			continue
		}
		if r.sub.done[t] || r.hasFailed(t) {
			continue
		}
		switch g := r.job.GroupOf(t); {
		case g == nil:
			r.placeOne(t)
		case r.missingPods(g) > 0 && r.s.Rules.Gang:
			r.placeWholeGroup(g)
		case g.Policy.Topology == nil:
			r.placeOne(t)
		default:
			r.placeInGroup(g, []*model.Task{t})
		}
	}
}

// placeOne tries one task.
func (r *round) placeOne(t *model.Task) bool {
	before := len(r.placed)
	r.placeTask(t)
	if len(r.placed) == before {
		return false
	}
	r.sub.done[t] = true
	if g := r.job.GroupOf(t); g != nil {
		r.sub.placed[g]++
	}
	return true
}

// missingPods returns how many pods a group still lacks.
func (r *round) missingPods(g *framework.Group) int { return max(g.MissingTasks()-r.sub.placed[g], 0) }

// isHopeless reports whether another group of the same policy, with at most n equal pods, has already found no nodes.
func (r *round) isHopeless(g *framework.Group, n int) bool {
	least, failed := r.sub.hopeless[g.Policy]
	return failed && n >= least && len(g.Policy.Keys) > 0
}

// placeWholeGroup places all pods that a group lacks to reach its size, or none.
func (r *round) placeWholeGroup(g *framework.Group) bool {
	n := r.missingPods(g)
	var tasks []*model.Task
	for _, t := range r.sub.pending[g] {
		if len(tasks) < n && !r.sub.done[t] {
			tasks = append(tasks, t)
		}
	}
	if len(tasks) < n {
		return false
	}
	if r.isHopeless(g, n) && r.allSameShape(tasks) {
		return false
	}
	if r.placeInGroup(g, tasks) {
		switch missing := r.sub.missing[g.Policy]; {
		case missing > 1:
			r.sub.missing[g.Policy] = missing - 1
		default:
			delete(r.sub.missing, g.Policy)
		}
		return true
	}
	if r.allSameShape(tasks) && len(r.s.NodesOf(r.job, g)) == 0 {
		r.sub.hopeless[g.Policy] = n
	}
	if r.sub.short == nil {
		r.sub.short = g
	}
	return false
}

// allSameShape reports whether the given tasks and all other pending tasks have the same shape.
func (r *round) allSameShape(tasks []*model.Task) bool {
	for _, t := range tasks {
		if t.Shape != tasks[0].Shape || t.Shape.Slow {
			return false
		}
	}
	return len(r.job.PendingShapes()) == 1
}

// placeInGroup places some tasks of a group together, where the group's own topology permits it.
func (r *round) placeInGroup(g *framework.Group, tasks []*model.Task) bool {
	s := r.s
	if g.Policy.Topology == nil {
		return r.placeAll(tasks)
	}
	outer := s.Scope
	defer func() { s.Scope = outer }()
	var from *model.Domain
	if outer != nil {
		from = outer.Domain
	}
	held := r.nodesOfGroup(g)
	tiers, v := s.PermittedTiers(g.Policy.Topology, held, from)
	if v.Code != "" {
		if r.nodeVerdict.Code == "" {
			v.SubGroup = g.Name
			r.nodeVerdict = v
		}
		return false
	}
	wanted, shape, _ := r.countByShape(tasks)
	near, quiet := nearest{fit: -1}, r.quiet
	r.quiet = true
	defer func() { r.quiet = quiet }()
	for _, tier := range tiers {
		s.SortByScore(tier, r.job, framework.SumRequests(tasks))
		for _, d := range tier {
			if d != nil {
				if fit := r.countFreeSlots(d.All, wanted); fit < len(tasks) {
					near.recordFit(d, fit)
					continue
				}
			}
			r.enterDomain(d, held, shape, len(tasks))
			failed := r.failed
			r.failed = nil // failures elsewhere do not count here
			done := r.placeAll(tasks)
			if r.failed = failed; done {
				return true
			}
			near.recordFit(d, 0)
		}
	}
	if r.quiet = quiet; near.domain != nil && r.nodeVerdict.Code == "" && !quiet {
		r.enterDomain(near.domain, held, shape, len(tasks))
		r.placeAll(tasks)
		r.sub.shortIn = near.domain.Name
	}
	return false
}

// nodesOfGroup returns the nodes of a group's pods, including the pods that this round has placed.
func (r *round) nodesOfGroup(g *framework.Group) []model.NodeID {
	held := r.s.NodesOf(r.job, g)
	for _, p := range r.placed {
		if r.job.GroupOf(p.Task) == g {
			held = append(held, p.Node)
		}
	}
	return held
}

// countFreeSlots returns how many of the wanted tasks currently fit on the nodes, considering only resources and
// counting each shape separately.
func (r *round) countFreeSlots(nodes []model.NodeID, wanted map[*model.Shape]int) int {
	total := 0
	later := r.s.View.Releasing > 0 || r.s.IsEvicting() || r.s.InForecast()
	for shape, n := range wanted {
		ranking := r.s.Judge.RankingFor(shape, later, &r.s.Tree.View)
		sum := 0
		for _, id := range nodes {
			if sum >= n {
				break
			}
			if _, fits := ranking.ScoreAt(r.s.View.Rank[id]); fits {
				sum += r.s.FittingPods(shape, id, later)
			}
		}
		total += min(n, sum)
	}
	return total
}

// placeAll places tasks together or not at all.
func (r *round) placeAll(tasks []*model.Task) bool {
	start := r.currentPoint()
	for _, t := range tasks {
		if r.hasFailed(t) || !r.placeOne(t) {
			r.rollBackTo(start)
			return false
		}
	}
	return true
}

// nameShortage adds to the verdict the domain and the group that could not be placed.
func (r *round) nameShortage(d *model.Domain) {
	v := &r.nodeVerdict
	if v.Code == "" {
		return
	}
	if v.HyperNode == "" && d != nil {
		v.HyperNode = d.Name
	}
	if g := r.sub.short; g != nil && v.SubGroup == "" {
		v.SubGroup = g.Name
		if r.sub.shortIn != "" {
			v.HyperNode = r.sub.shortIn
		}
	}
}

// findBrokenHyperNode returns a verdict if the gang might fit in a HyperNode that cannot be used.
func (r *round) findBrokenHyperNode(wanted map[*model.Shape]int, count int) (explain.Verdict, bool) {
	if r.s.Tree == nil || r.s.Tree.Topology == nil {
		return explain.Verdict{}, false
	}
	specs := []*model.TopologySpec{r.job.Topology}
	for i := range r.job.SubGroups {
		specs = append(specs, r.job.SubGroups[i].Topology)
	}
	for _, spec := range specs {
		if spec == nil || !spec.Hard {
			continue
		}
		limit, v := r.s.HighestTier(spec, r.s.Tree.Topology.Root)
		if v.Code != "" {
			return v, true
		}
		for _, d := range r.s.Tree.Topology.Domains {
			if !d.CanHoldGangs() && d.Tier <= limit && r.countFreeSlots(d.All, wanted) >= count {
				return explain.Verdict{Code: reason.HyperNodeInvalid, Topology: d.Problem, HyperNode: d.Name}, true
			}
		}
	}
	return explain.Verdict{}, false
}
