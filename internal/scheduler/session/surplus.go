package session

import "github.com/vc-batch/vc/internal/model"

// Surplus is what a gang can lose, task by task, and still have its minimum.
type Surplus struct {
	spare int
	roles map[string]int // of each role with a minimum; nil: roles do not matter
}

// Surplus counts a gang's.
func (s *Session) Surplus(g *model.Gang) Surplus {
	j := s.Job(g)
	out := Surplus{spare: j.ReadyTasks() - g.MinMember}
	if len(g.MinTaskMember) == 0 {
		return out
	}
	out.roles = make(map[string]int, len(g.MinTaskMember))
	for role, n := range g.MinTaskMember {
		out.roles[role] = -n
	}
	for _, t := range g.Tasks {
		if _, limited := out.roles[t.Role]; limited && (t.Status.Allocated() || t.Status == model.Succeeded) {
			out.roles[t.Role]++
		}
	}
	return out
}

// Take counts a task out when the gang can do without it.
func (s *Surplus) Take(t *model.Task) bool {
	left, limited := s.roles[t.Role]
	if s.spare <= 0 || limited && left <= 0 {
		return false
	}
	s.spare--
	if limited {
		s.roles[t.Role] = left - 1
	}
	return true
}

// Broken says whether the gang had its minimum and has lost some of it: it holds
// nodes, and too few.
func (j *Job) Broken() bool {
	return !j.Satisfied() && j.AllocatedTasks()-j.Evicted > 0 && len(j.Placed) == 0
}
