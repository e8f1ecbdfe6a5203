package framework

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
)

// UsesQueueGate reports whether pods of the gang without a node wait at their queue's gate, or passed it.
func (j *Job) UsesQueueGate() bool {
	return len(j.AtGate) > 0 || j.HasPassedGate()
}

// IsGatedByQueueAlone reports whether the gang has enough pods without the ones that have other scheduling gates.
func (j *Job) IsGatedByQueueAlone() bool {
	others := 0
	for _, t := range j.Tasks {
		if t.Status == model.Pending && t.Gated && !t.QueueGated {
			others++
		}
	}
	return j.Gated > others && j.ReadyTasks()+len(j.Pending)+j.Gated-others >= j.MinMember
}

// TasksPastGate returns the job's tasks that no gate holds back.
func (j *Job) TasksPastGate() []*model.Task {
	out := slices.DeleteFunc(slices.Clone(j.Pending), func(t *model.Task) bool { return t.Status != model.Pending })
	for _, t := range j.Tasks {
		if t.Ungating() && t.HasPassed() {
			out = append(out, t)
		}
	}
	return append(out, j.Passed...)
}

// Opening reports whether tasks of the job have passed their queue's gate and the API has not confirmed it yet.
func (j *Job) Opening() bool {
	return len(j.Passed) > 0 || j.opening
}

// HasPassedGate reports whether tasks of the gang have passed their queue's gate and have no node.
func (j *Job) HasPassedGate() bool { return slices.ContainsFunc(j.Tasks, (*model.Task).HasPassed) }
