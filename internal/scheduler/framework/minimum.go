package framework

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
)

// MinimumTasks returns the tasks that bring the job to its minimum, in the order in which a round would place them.
func (j *Job) MinimumTasks() []*model.Task {
	if len(j.groups) > 0 {
		return j.minimumWithGroups()
	}
	needs, need := j.RoleNeeds(), j.Need()
	var out []*model.Task
	taken := map[*model.Task]bool{}
	for _, t := range j.Pending {
		if needs[t.Role] > 0 {
			needs[t.Role]--
			out = append(out, t)
			taken[t] = true
		}
	}
	for _, t := range j.Pending {
		if len(out) >= need {
			break
		}
		if !taken[t] {
			out = append(out, t)
		}
	}
	return out
}

// MinimumRequest returns the total request of the tasks that MinimumTasks returns.
func (j *Job) MinimumRequest() resource.Request {
	if j.minimumGen != j.Gen || len(j.Placed)+len(j.Promised) > 0 {
		j.minimum, j.minimumGen = SumRequests(j.MinimumTasks()), j.Gen
	}
	return j.minimum
}

// SaveMinimum saves the cached result of MinimumRequest before a simulation that changes the gang. The returned
// function restores the result.
func (j *Job) SaveMinimum() (restore func()) {
	minimum, generation := j.minimum, j.minimumGen
	return func() { j.minimum, j.minimumGen = minimum, generation }
}

// ForgetMinimum drops the cached result of MinimumRequest. Call it after a change to the gang's minimum.
func (j *Job) ForgetMinimum() { j.minimumGen = 0 }

// ReplacePending replaces each pending task by the clone with the same index, also in its sub-group, until restore is
// called.
func (j *Job) ReplacePending(clones []*model.Task) (restore func()) {
	pending := j.Pending
	for i, t := range pending {
		if g := j.groupOf[t]; g != nil {
			j.groupOf[clones[i]] = g
		}
	}
	j.Pending = clones
	return func() {
		j.Pending = pending
		for _, t := range clones {
			delete(j.groupOf, t)
		}
	}
}

// SumRequests returns the total request of tasks.
func SumRequests(tasks []*model.Task) resource.Request {
	var sum resource.Vec
	for _, t := range tasks {
		sum.Add(t.Shape.Request)
	}
	var r resource.Request
	for i, v := range sum {
		if v > 0 {
			r = append(r, resource.Term{Index: int32(i), Value: v})
		}
	}
	return r
}
