package framework

import (
	"cmp"
	"slices"

	"github.com/vc-batch/vc/internal/model"
)

// MissingTasks returns the number of tasks that the group lacks to reach its size.
func (g *Group) MissingTasks() int {
	if g.loose {
		return 0
	}
	return max(g.Policy.Size-g.Held, 0)
}

// Priority returns the highest priority of the group's pods.
func (g *Group) Priority() int32 {
	var highest int32
	for i, t := range g.Tasks {
		if i == 0 || t.Priority > highest {
			highest = t.Priority
		}
	}
	return highest
}

// Groups returns the job's sub-groups, sorted by policy and then by index or name.
func (j *Job) Groups() []*Group { return j.groups }

// GroupOf returns the sub-group of a task, or nil if the task is not in a sub-group.
func (j *Job) GroupOf(t *model.Task) *Group { return j.groupOf[t] }

// GroupNeeds returns, for each policy, how many more groups must reach their size for the gang to have its minimum;
// nil if no more groups are needed.
func (j *Job) GroupNeeds() map[*model.SubGroupPolicy]int {
	var needs map[*model.SubGroupPolicy]int
	for i := range j.SubGroups {
		p := &j.SubGroups[i]
		missing := p.Min
		if missing > 0 {
			for _, g := range j.groups {
				if g.loose {
					return nil
				}
				if g.Policy == p && g.MissingTasks() == 0 {
					missing--
				}
			}
		}
		if missing > 0 {
			if needs == nil {
				needs = map[*model.SubGroupPolicy]int{}
			}
			needs[p] = missing
		}
	}
	return needs
}

// ShortGroups looks for a policy with too few groups that have enough pods. It returns the policy, one of its groups
// with too few pods if there is any, and the number of groups that have enough. ok is false if there is no such
// policy. more lists tasks that count in addition to the pending ones.
func (j *Job) ShortGroups(more ...*model.Task) (policy *model.SubGroupPolicy, group *Group, have int, ok bool) {
	needs := j.GroupNeeds()
	if len(needs) == 0 {
		return nil, nil, 0, false
	}
	pending := j.pendingByGroup(more...)
	for i := range j.SubGroups {
		p := &j.SubGroups[i]
		if needs[p] == 0 {
			continue
		}
		whole := 0
		group = nil
		for _, g := range j.groups {
			switch {
			case g.Policy != p:
			case g.Held+len(pending[g]) >= p.Size:
				whole++
			case group == nil:
				group = g
			}
		}
		if whole < p.Min {
			return p, group, whole, true
		}
	}
	return nil, nil, 0, false
}

// CountGroupPods returns the number of pods of a group that hold a node, have succeeded, or could be placed.
func (j *Job) CountGroupPods(g *Group) int { return g.Held + len(j.pendingByGroup()[g]) }

func (j *Job) pendingByGroup(more ...*model.Task) map[*Group][]*model.Task {
	pending := make(map[*Group][]*model.Task, len(j.groups))
	for _, list := range [2][]*model.Task{j.Pending, more} {
		for _, t := range list {
			if g := j.groupOf[t]; g != nil {
				pending[g] = append(pending[g], t)
			}
		}
	}
	return pending
}

// neededGroups returns the groups that would bring the job to its minimum, in the order in which groups are placed.
func (j *Job) neededGroups() []*Group {
	needs := j.GroupNeeds()
	if len(needs) == 0 {
		return nil
	}
	pending := j.pendingByGroup()
	var out []*Group
	for _, g := range j.GroupsInOrder() {
		if needs[g.Policy] > 0 && g.MissingTasks() > 0 && len(pending[g]) >= g.MissingTasks() {
			needs[g.Policy]--
			out = append(out, g)
		}
	}
	return out
}

// minimumWithGroups is MinimumTasks for a gang with sub-groups. It includes each sub-group completely or not at all.
func (j *Job) minimumWithGroups() []*model.Task {
	needs, need := j.RoleNeeds(), j.Need()
	pending, taken := j.pendingByGroup(), map[*model.Task]bool{}
	var out []*model.Task
	take := func(t *model.Task) {
		if !taken[t] {
			taken[t] = true
			out = append(out, t)
			needs[t.Role]--
		}
	}
	unit := func(t *model.Task) {
		if g := j.groupOf[t]; g != nil && g.MissingTasks() > 0 && !taken[pending[g][0]] {
			for _, other := range pending[g][:min(g.MissingTasks(), len(pending[g]))] {
				take(other)
			}
		} else if g == nil || g.MissingTasks() == 0 {
			take(t)
		}
	}
	if needs == nil {
		needs = map[string]int{}
	}
	for _, g := range j.neededGroups() {
		unit(pending[g][0])
	}
	for _, t := range j.Pending {
		if needs[t.Role] > 0 {
			unit(t)
		}
	}
	for _, t := range j.Pending {
		if len(out) < need {
			unit(t)
		}
	}
	return out
}

// GroupsInOrder returns the groups in the order in which they are placed.
func (j *Job) GroupsInOrder() []*Group {
	if len(j.groupOrder) == 0 {
		return j.groups
	}
	groups := slices.Clone(j.groups)
	slices.SortStableFunc(groups, func(a, b *Group) int {
		if a.order != b.order {
			return cmp.Compare(a.order, b.order)
		}
		for _, f := range j.groupOrder {
			if c := f(a, b); c != 0 {
				return c
			}
		}
		return 0
	})
	return groups
}

// CountPlacedInGroups adds placements made in the cycle to the counts of their groups.
func (j *Job) CountPlacedInGroups(placed []Placed) {
	if len(j.groups) == 0 {
		return
	}
	for _, p := range placed {
		if g := j.groupOf[p.Task]; g != nil {
			g.Held++
		}
	}
}

// IsStructured reports whether the gang has a network topology or sub-groups. The number of pods alone then does not
// decide whether it can start.
func (j *Job) IsStructured() bool { return j.Topology != nil || len(j.SubGroups) > 0 }
