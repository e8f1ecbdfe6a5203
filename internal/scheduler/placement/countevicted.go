package placement

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// CountEvicted counts a running task as leaving (sign 1) or as staying again (sign -1), in the overlay, its queue,
// its gang and the rules.
func (s *Placer) CountEvicted(t *model.Task, from *queue.Queue, sign int) {
	if sign > 0 {
		s.View.EvictTask(t.Node, t)
	} else {
		s.View.CancelEviction(t.Node, t)
	}
	from.AddAllocated(t.Shape.Request, float64(-sign))
	s.Trying += sign
	s.NotifyEvicted(t, sign)
	if j := s.Job(t.Gang); j != nil {
		j.CountEvicted(t, sign)
	}
}

// SimulateHeld counts tasks as held by their job and its queue until the returned function is called. This simulates
// the state after an eviction.
func (s *Placer) SimulateHeld(j *framework.Job, tasks []*model.Task) (undo func()) {
	promised, asked := j.Promised, framework.SumRequests(tasks)
	j.Promised = slices.Clip(promised)
	for _, t := range tasks {
		j.Promised = append(j.Promised, framework.Placed{Task: t, Node: model.NoNode})
	}
	j.In.AddAllocated(asked, 1)
	return func() {
		j.Promised = promised
		j.In.AddAllocated(asked, -1)
	}
}

// RecordEvicted marks that the status of a gang that has lost tasks must be updated, and excludes the gang from
// further evictions in this cycle.
func (s *Placer) RecordEvicted(g *model.Gang, tasks int) {
	if j := s.Job(g); j != nil {
		s.MarkEased(j.In)
		s.Touch(j)
	}
	s.Out.Stats.Victims += tasks
	s.DropHolder(g)
}
