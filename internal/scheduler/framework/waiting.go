package framework

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
)

// HoldsPromise reports whether the gang runs no pods but its queue reserves resources for it.
func (j *Job) HoldsPromise() bool {
	return j.IsAdmitted() && j.AllocatedTasks() == 0 && slices.ContainsFunc(j.Sums.Inqueue, func(v int64) bool { return v > 0 })
}

// WaitingShapes returns the shapes of the tasks without a node, with the first task of each shape.
func (j *Job) WaitingShapes() (shapes []*model.Shape, first []*model.Task) {
	for _, list := range [2][]*model.Task{j.Pending, j.AtGate} {
		for _, t := range list {
			if !slices.Contains(shapes, t.Shape) {
				shapes, first = append(shapes, t.Shape), append(first, t)
			}
		}
	}
	return shapes, first
}

// HasOneShape reports whether the job has pending tasks, and all of them have the same shape.
func (j *Job) HasOneShape() bool {
	if len(j.Pending) == 0 {
		return false
	}
	shape := j.Pending[0].Shape
	for i := len(j.Pending) - 1; i > 0; i-- { // equal pods are adjacent, so the last one usually differs if any does
		if j.Pending[i].Shape != shape {
			return false
		}
	}
	return true
}

// HasResources reports whether resources were given or promised to the gang in this cycle.
func (j *Job) HasResources() bool {
	return len(j.Placed)+len(j.Promised)+len(j.Reserved) > 0
}

// WaitsToStart reports whether a gang is waiting for admission or for its minimum.
func (j *Job) WaitsToStart() bool { return !j.IsAdmitted() || !j.IsSatisfied() }

// IsUnderQueue reports whether the gang's queue, or one of its ancestors, has the given name.
func (j *Job) IsUnderQueue(name string) bool {
	for q := j.In; q != nil; q = q.Parent {
		if q.Name == name {
			return true
		}
	}
	return false
}

// HasPromisedResources reports whether tasks of the gang are waiting for resources that are promised to them.
func (j *Job) HasPromisedResources() bool { return len(j.Reserved)+len(j.Promised) > 0 }

// HasTurn reports whether the gang takes turns with the admitted gangs of its queue (inside) or with the gangs that
// are waiting for admission.
func (j *Job) HasTurn(inside bool) bool {
	if !inside {
		return !j.IsAdmitted()
	}
	return j.IsAdmitted() && !j.IsSatisfied() && !j.HasPromisedResources()
}

// WantsBeyondMinimum reports whether the gang has its minimum and is waiting for more resources.
func (j *Job) WantsBeyondMinimum() bool {
	hasMinimum := j.IsAdmitted() && j.IsSatisfied()
	return hasMinimum && j.WantsMore() && !j.HasPromisedResources()
}

// WantsMore reports whether pods of the gang are waiting for nodes or at their queue's gate.
func (j *Job) WantsMore() bool { return len(j.Pending)+len(j.AtGate) > 0 }

// IsBehindOthers reports whether the gang was not tried because others came before it.
func (j *Job) IsBehindOthers() bool { return j.Verdict.Code == reason.BehindOthers }
