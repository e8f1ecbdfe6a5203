// Package reclaim lets a queue take back what it deserves from queues that hold
// more: for each of its starving gangs as few victims as make it fit, or none.
package reclaim

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/evict"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Action is the action reclaim.
type Action struct{}

// Name is reclaim.
func (Action) Name() string { return "reclaim" }

// hopeless remembers a failed try: the same queue with the same shape and as
// many tasks would fail again.
type hopeless struct {
	queue *model.Queue
	shape *model.Shape
}

// Run goes through the starving gangs, in the order of queues and gangs.
func (Action) Run(s *session.Session) {
	var starving []*session.Job
	for _, j := range s.Starving() {
		if wants(s, j) {
			starving = append(starving, j)
		}
	}
	slices.SortFunc(starving, func(a, b *session.Job) int {
		if a.In != b.In {
			return s.Rules.CompareQueues(a.In, b.In)
		}
		return s.Rules.CompareJobs(a, b)
	})
	failed := map[hopeless]int{}
	for _, j := range starving {
		key := hopeless{j.In.Queue, j.Pending[0].Shape}
		if n, ok := failed[key]; ok && j.Need() >= n && len(j.Shapes()) == 1 && len(j.MinTaskMember) == 0 {
			s.SameAs(j)
			continue
		}
		if s.Rules.IsOverused(j.In).Code != "" {
			continue
		}
		if !evict.Reclaim(s, j) && len(j.Shapes()) == 1 {
			failed[key] = j.Need()
		}
	}
}

func wants(s *session.Session, j *session.Job) bool {
	return j.LetIn() && j.Tryable(s) && j.Starving() && len(j.Reserved) == 0 && len(j.Promised) == 0
}
