package framework

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
)

// CountEvicted counts a task of the job as evicted in this cycle (sign 1) or undoes this (sign -1).
func (j *Job) CountEvicted(t *model.Task, sign int) {
	if j.Leaving == nil {
		j.Leaving = map[*model.Task]bool{}
	}
	j.Evicted += sign
	if sign > 0 {
		j.Leaving[t] = true
	} else {
		delete(j.Leaving, t)
	}
}

// HeldResources returns the resources that the gang currently holds. It includes this cycle's placements, even
// tentative ones, and excludes its evictions.
func (j *Job) HeldResources() resource.Vec {
	held := j.Sums.Allocated.Clone()
	for _, list := range [][]Placed{j.Placed, j.Promised} {
		for _, p := range list {
			if p.Task.Status != model.Pipelined {
				held.Add(p.Task.Shape.Request)
			}
		}
	}
	for _, t := range j.Released {
		held.Sub(t.Shape.Request)
	}
	for t := range j.Leaving {
		held.Sub(t.Shape.Request)
	}
	return held
}

// DropPending removes placed tasks from the list of pending tasks.
func (j *Job) DropPending(placed []Placed) {
	prefix := 0
	for prefix < len(placed) && j.Pending[prefix] == placed[prefix].Task {
		prefix++
	}
	if prefix == len(placed) {
		j.Pending = j.Pending[prefix:]
		return
	}
	gone := make(map[*model.Task]bool, len(placed))
	for _, p := range placed {
		gone[p.Task] = true
	}
	rest := make([]*model.Task, 0, len(j.Pending)-len(placed))
	for _, t := range j.Pending {
		if !gone[t] {
			rest = append(rest, t)
		}
	}
	j.Pending = rest
}

// KeepsPromises reports whether the tasks still have the resources that were promised to them, either as a promise or
// as a placement.
func (j *Job) KeepsPromises(tasks []*model.Task) bool {
	kept := 0
	for _, list := range [][]Placed{j.Placed, j.Promised} {
		for _, p := range list {
			if p.Task.Status == model.Pipelined && p.Task.Node == p.Node {
				kept++
			}
		}
	}
	return kept == len(tasks)
}

// ReleasePlacement subtracts an undone placement from the resources that the job's queue holds. The caller rolls the
// overlay back separately.
func (j *Job) ReleasePlacement(p Placed) {
	j.In.AddAllocated(p.Task.Shape.Request, -1)
	if !p.Waits {
		j.In.AddOccupied(p.Task.Shape.Request, -1)
	}
}
