package framework

import "github.com/vc-batch/vc/internal/model"

// Surplus counts the tasks that a gang can lose while keeping its minimum.
type Surplus struct {
	spare int
	roles map[string]int // by role with a minimum; nil if role minimums do not apply
	// groups holds how many pods each sub-group has beyond its size. A sub-group without surplus loses no pods,
	// because it would then be incomplete.
	groups map[*Group]int
	of     func(*model.Task) *Group
	job    *Job
}

// Surplus returns how many tasks the gang can lose.
func (j *Job) Surplus() Surplus {
	out := Surplus{spare: j.ReadyTasks() - j.MinMember}
	if len(j.groups) > 0 {
		out.job, out.of, out.groups = j, j.GroupOf, make(map[*Group]int, len(j.groups))
		for _, group := range j.groups {
			out.groups[group] = group.Held - group.Policy.Size
		}
	}
	if !j.HasRoleMinimums() {
		return out
	}
	out.roles = make(map[string]int, len(j.MinTaskMember))
	for role, n := range j.MinTaskMember {
		out.roles[role] = -n
	}
	for _, t := range j.Tasks {
		if _, limited := out.roles[t.Role]; limited && (t.Status.IsAllocated() || t.Status == model.Succeeded) {
			out.roles[t.Role]++
		}
	}
	return out
}

// TakeTask counts a task out if the gang can lose it. It reports whether it has counted the task out.
func (s *Surplus) TakeTask(t *model.Task) bool {
	left, limited := s.roles[t.Role]
	if s.spare <= 0 || (limited && left <= 0) {
		return false
	}
	if s.of != nil {
		if g := s.of(t); g != nil && !g.loose {
			if s.groups[g] <= 0 {
				return false
			}
			s.groups[g]--
		}
	}
	s.spare--
	if limited {
		s.roles[t.Role] = left - 1
	}
	return true
}

// TakeGroups counts out the whole sub-groups that the gang can lose, starting with the last one, and returns their
// tasks. It considers only sub-groups whose pods may all be evicted.
func (s *Surplus) TakeGroups(removable []*model.Task) (out [][]*model.Task) {
	if s.job == nil {
		return nil
	}
	complete := map[*model.SubGroupPolicy]int{}
	members := map[*Group][]*model.Task{}
	for group, beyond := range s.groups {
		if beyond >= 0 {
			complete[group.Policy]++
		}
	}
	for _, t := range removable {
		if g := s.of(t); g != nil {
			members[g] = append(members[g], t)
		}
	}
	for i := len(s.job.groups) - 1; i >= 0; i-- {
		g := s.job.groups[i]
		tasks := members[g]
		isWhole := !g.loose && s.groups[g] == 0 && len(tasks) == g.Held
		if !isWhole || len(tasks) > s.spare {
			continue
		}
		if complete[g.Policy] <= g.Policy.Min || !s.rolesCanSpare(tasks) {
			continue
		}
		complete[g.Policy]--
		s.spare -= len(tasks)
		for _, t := range tasks {
			if _, limited := s.roles[t.Role]; limited {
				s.roles[t.Role]--
			}
		}
		out = append(out, tasks)
	}
	return out
}

// rolesCanSpare reports whether each role can lose the tasks that belong to it.
func (s *Surplus) rolesCanSpare(tasks []*model.Task) bool {
	need := map[string]int{}
	for _, t := range tasks {
		need[t.Role]++
		if left, limited := s.roles[t.Role]; limited && need[t.Role] > left {
			return false
		}
	}
	return true
}

// IsBroken reports whether the gang has lost part of its minimum, which means that it holds nodes, but too few.
func (j *Job) IsBroken() bool {
	return !j.IsSatisfied() && j.AllocatedTasks()-j.Evicted > 0 && len(j.Placed) == 0
}
