package session

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// CountOut counts a running task as leaving (1), or as staying again (-1), in the overlay, its queue, its gang and
// the rules.
func (s *Session) CountOut(t *model.Task, from *queue.Queue, sign int) {
	if sign > 0 {
		s.View.Evict(t.Node, t)
	} else {
		s.View.Spare(t.Node, t)
	}
	from.Hold(t.Shape.Request, float64(-sign))
	s.Trying += sign
	s.FollowEvicted(t, sign)
	if j := s.Job(t.Gang); j != nil {
		j.Leave(t, sign)
	}
}

// Given counts tasks as held by their job and its queue, until the returned function is called. It simulates the
// state after an eviction.
func (s *Session) Given(j *framework.Job, tasks []*model.Task) (undo func()) {
	promised, asked := j.Promised, framework.Sum(tasks)
	j.Promised = slices.Clip(promised)
	for _, t := range tasks {
		j.Promised = append(j.Promised, framework.Placed{Task: t, Node: model.NoNode})
	}
	j.In.Hold(asked, 1)
	return func() {
		j.Promised = promised
		j.In.Hold(asked, -1)
	}
}

// Evicted marks the status of a gang that lost tasks to be updated, and excludes the gang from further evictions in
// this cycle.
func (s *Session) Evicted(g *model.Gang, tasks int) {
	if j := s.Job(g); j != nil {
		s.ease(j.In)
		s.Touch(j)
	}
	s.Out.Stats.Victims += tasks
	for i, other := range s.gangs[g.Queue] {
		if other == g {
			list := s.gangs[g.Queue]
			s.gangs[g.Queue] = append(list[:i:i], list[i+1:]...)
			return
		}
	}
}
