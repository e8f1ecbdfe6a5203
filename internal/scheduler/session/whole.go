package session

import (
	"maps"
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// A structured gang has sub-groups, which are placed as a whole, or a network topology. Its domains are tried one
// after another, the narrowest first. Placements that do not suffice are undone.

// structure holds the counts of a round of a structured gang.
type structure struct {
	missing map[*model.SubGroupPolicy]int // number of missing groups
	placed  map[*framework.Group]int
	done    map[*model.Task]bool
	pending map[*framework.Group][]*model.Task
	// hopeless holds, by policy, how many pods of a group did not fit together.
	hopeless map[*model.SubGroupPolicy]int
	// short is the group that failed first; shortIn is the HyperNode that was tried for it.
	short   *framework.Group
	shortIn string
}

// point is a state of a round to return to.
type point struct {
	mark, placed, promises int
	failed                 int
}

func (r *round) point() point {
	return point{r.s.View.Mark(), len(r.placed), r.promises, len(r.failed)}
}

// back undoes the placements after a point.
func (r *round) back(p point) {
	for i := len(r.placed) - 1; i >= p.placed; i-- {
		t := r.placed[i].Task
		r.s.followPlaced(r.job, t, r.placed[i].Node, -1)
		r.s.unplacedRule(t, r.placed[i].Node)
		r.job.TakeBack(r.placed[i])
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
	if r.s.scope != nil {
		r.s.scope.full = nil
	}
}

// structured places a structured gang in the first domain that has room for it.
func (r *round) structured() {
	s, j := r.s, r.job
	outer := s.scope
	defer func() { s.scope = outer }()
	var from *model.Domain
	if outer != nil {
		from = outer.domain
	}
	held := s.nodesOf(j, nil)
	tiers, v := s.tiers(j.Topology, held, from)
	if v.Code != "" {
		r.begin()
		r.nodeVerdict = v
		return
	}
	start := r.point()
	j.Unsettled = false
	near, quiet := nearest{fit: -1}, r.quiet
	_, shape, count := r.wanted(r.minimum())
	wanted, _, _ := r.wanted(r.taking())
	r.quiet = true
	for _, tier := range tiers {
		s.byScore(tier, j, j.MinimumRequest())
		for _, now := range r.passes() {
			r.now = now
			for _, d := range tier {
				if d != nil {
					if fit := r.bound(d, wanted); fit < count {
						near.note(d, fit)
						continue
					}
				}
				r.enter(d, held, shape, count)
				r.attempt()
				j.Unsettled = true // another order may fit with fewer free resources
				if r.enough() && len(r.placed) > 0 {
					r.quiet, j.Unsettled = quiet, false
					return
				}
				near.note(d, len(r.placed))
				r.back(start)
			}
		}
	}
	r.now, r.quiet = false, quiet
	if v, ok := r.broken(wanted, count); ok {
		r.begin()
		r.nodeVerdict = v
		return
	}
	r.enter(near.domain, held, shape, count)
	r.attempt()
	r.blame(near.domain)
}

// nearest is the domain that could take the largest part of a gang, the widest among equals.
type nearest struct {
	domain *model.Domain
	fit    int
}

func (n *nearest) note(d *model.Domain, fit int) {
	if fit > n.fit || fit == n.fit && d != nil && n.domain != nil && d.Tier > n.domain.Tier {
		n.domain, n.fit = d, fit
	}
}

// passes returns the passes over a tier: if resources are being released, the first pass does not wait for them.
func (r *round) passes() []bool {
	if r.s.View.Releasing > 0 && !r.s.evicting() && r.s.looking == 0 {
		return []bool{true, false}
	}
	return []bool{false}
}

// minimum returns the tasks that the round must place together.
func (r *round) minimum() []*model.Task {
	var tasks []*model.Task
	for _, t := range r.job.Minimum() {
		if r.filter == nil || r.filter(t) {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// taking returns the tasks that the round may place. If a task of the minimum finds no node, another may replace it.
func (r *round) taking() []*model.Task {
	if r.filter == nil {
		return r.job.Pending
	}
	return slices.DeleteFunc(slices.Clone(r.job.Pending), func(t *model.Task) bool { return !r.filter(t) })
}

// wanted counts tasks by shape, and returns the most frequent shape.
func (r *round) wanted(tasks []*model.Task) (counts map[*model.Shape]int, most *model.Shape, total int) {
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

// begin counts what the gang lacks.
func (r *round) begin() {
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

// attempt places what the gang lacks, in the current scope: first groups that must start, then tasks of roles below
// their minimum, then the rest.
func (r *round) attempt() {
	r.begin()
	for _, g := range r.job.GroupsInOrder() {
		if r.sub.missing[g.Policy] > 0 && r.short(g) > 0 {
			r.whole(g)
		}
	}
	if len(r.sub.missing) > 0 {
		return
	}
	if len(r.roleNeeds) > 0 {
		r.units(func(t *model.Task) bool { return r.roleNeeds[t.Role] > 0 })
	}
	r.units(func(*model.Task) bool { return true })
}

// units tries tasks in order until enough are placed. Tasks without a group, and tasks whose group has its size,
// are tried alone, others with their group.
func (r *round) units(partOf func(*model.Task) bool) {
	for _, t := range r.job.Pending {
		if len(r.placed) > 0 && r.enough() {
			return
		}
		if r.filter != nil && !r.filter(t) || !partOf(t) || r.sub.done[t] || r.hasFailed(t) {
			continue
		}
		switch g := r.job.GroupOf(t); {
		case g == nil:
			r.one(t)
		case r.short(g) > 0 && r.s.Rules.Gang:
			r.whole(g)
		case g.Policy.Topology == nil:
			r.one(t)
		default:
			r.inGroup(g, []*model.Task{t})
		}
	}
}

// one tries one task.
func (r *round) one(t *model.Task) bool {
	before := len(r.placed)
	r.try(t)
	if len(r.placed) == before {
		return false
	}
	r.sub.done[t] = true
	if g := r.job.GroupOf(t); g != nil {
		r.sub.placed[g]++
	}
	return true
}

// short returns how many pods a group still lacks.
func (r *round) short(g *framework.Group) int { return max(g.Short()-r.sub.placed[g], 0) }

// whole places the pods that a group lacks to its size, all or none.
func (r *round) whole(g *framework.Group) bool {
	n := r.short(g)
	var tasks []*model.Task
	for _, t := range r.sub.pending[g] {
		if len(tasks) < n && !r.sub.done[t] {
			tasks = append(tasks, t)
		}
	}
	if len(tasks) < n {
		return false
	}
	if least, failed := r.sub.hopeless[g.Policy]; failed && n >= least && len(g.Policy.Keys) > 0 && r.alike(tasks) {
		return false
	}
	if r.inGroup(g, tasks) {
		switch missing := r.sub.missing[g.Policy]; {
		case missing > 1:
			r.sub.missing[g.Policy] = missing - 1
		default:
			delete(r.sub.missing, g.Policy)
		}
		return true
	}
	if r.alike(tasks) && len(r.s.nodesOf(r.job, g)) == 0 {
		r.sub.hopeless[g.Policy] = n
	}
	if r.sub.short == nil {
		r.sub.short = g
	}
	return false
}

// alike reports whether the tasks, and all other pending tasks, have the same shape.
func (r *round) alike(tasks []*model.Task) bool {
	for _, t := range tasks {
		if t.Shape != tasks[0].Shape || t.Shape.Slow {
			return false
		}
	}
	return len(r.job.Shapes()) == 1
}

// inGroup places some tasks of a group together, where the group's own topology permits it.
func (r *round) inGroup(g *framework.Group, tasks []*model.Task) bool {
	s := r.s
	if g.Policy.Topology == nil {
		return r.all(tasks)
	}
	outer := s.scope
	defer func() { s.scope = outer }()
	var from *model.Domain
	if outer != nil {
		from = outer.domain
	}
	held := s.nodesOf(r.job, g)
	for _, p := range r.placed {
		if r.job.GroupOf(p.Task) == g {
			held = append(held, p.Node)
		}
	}
	tiers, v := s.tiers(g.Policy.Topology, held, from)
	if v.Code != "" {
		if r.nodeVerdict.Code == "" {
			v.SubGroup = g.Name
			r.nodeVerdict = v
		}
		return false
	}
	wanted, shape, _ := r.wanted(tasks)
	near, quiet := nearest{fit: -1}, r.quiet
	r.quiet = true
	defer func() { r.quiet = quiet }()
	for _, tier := range tiers {
		s.byScore(tier, r.job, framework.Sum(tasks))
		for _, d := range tier {
			if d != nil {
				if fit := r.left(d.All, wanted); fit < len(tasks) {
					near.note(d, fit)
					continue
				}
			}
			r.enter(d, held, shape, len(tasks))
			failed := r.failed
			r.failed = nil // failures elsewhere do not count here
			done := r.all(tasks)
			if r.failed = failed; done {
				return true
			}
			near.note(d, 0)
		}
	}
	if r.quiet = quiet; near.domain != nil && r.nodeVerdict.Code == "" && !quiet {
		r.enter(near.domain, held, shape, len(tasks))
		r.all(tasks)
		r.sub.shortIn = near.domain.Name
	}
	return false
}

// left returns how many of some tasks the nodes currently have room for, by resources alone, counting each shape
// separately.
func (r *round) left(nodes []model.NodeID, wanted map[*model.Shape]int) int {
	total := 0
	later := r.s.View.Releasing > 0 || r.s.evicting() || r.s.looking > 0
	for shape, n := range wanted {
		ranking := r.s.Judge.Ranking(shape, later, &r.s.Tree.view)
		sum := 0
		for _, id := range nodes {
			if sum >= n {
				break
			}
			if _, fits := ranking.At(r.s.View.Rank[id]); fits {
				sum += r.s.times(shape, id, later)
			}
		}
		total += min(n, sum)
	}
	return total
}

// all places tasks together or not at all.
func (r *round) all(tasks []*model.Task) bool {
	start := r.point()
	for _, t := range tasks {
		if r.hasFailed(t) || !r.one(t) {
			r.back(start)
			return false
		}
	}
	return true
}

// blame adds the domain and the group that fell short to the verdict.
func (r *round) blame(d *model.Domain) {
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

// broken returns a verdict if the gang might fit in a HyperNode that cannot be used.
func (r *round) broken(wanted map[*model.Shape]int, count int) (explain.Verdict, bool) {
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
		limit, v := r.s.limit(spec, r.s.Tree.Topology.Root)
		if v.Code != "" {
			return v, true
		}
		for _, d := range r.s.Tree.Topology.Domains {
			if !d.Usable() && d.Tier <= limit && r.left(d.All, wanted) >= count {
				return explain.Verdict{Code: reason.HyperNodeInvalid, Topology: d.Problem, HyperNode: d.Name}, true
			}
		}
	}
	return explain.Verdict{}, false
}
