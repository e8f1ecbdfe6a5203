package framework

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
)

// UsesQueueGate reports whether any pod of the gang without a node is waiting at the gate of its queue or has passed
// it.
func (j *Job) UsesQueueGate() bool {
	return len(j.AtGate) > 0 || j.HasPassedGate()
}

// IsGatedByQueueAlone reports whether the gang has enough pods even without those that have other scheduling gates.
func (j *Job) IsGatedByQueueAlone() bool {
	others := 0
	for _, t := range j.Tasks {
		if t.Status == model.Pending && t.Gated && !t.QueueGated {
			others++
		}
	}
	return j.Gated > others && j.ReadyTasks()+len(j.Pending)+j.Gated-others >= j.MinMember
}

// TasksPastGate returns the job's tasks that are not held back by a gate.
func (j *Job) TasksPastGate() []*model.Task {
	out := slices.DeleteFunc(slices.Clone(j.Pending), func(t *model.Task) bool { return t.Status != model.Pending })
	for _, t := range j.Tasks {
		if t.IsUngating() && t.HasPassedGate() {
			out = append(out, t)
		}
	}
	return append(out, j.Passed...)
}

// IsGateOpening reports whether tasks of the job have passed the gate of their queue, but the API has not confirmed it
// yet.
func (j *Job) IsGateOpening() bool {
	return len(j.Passed) > 0 || j.opening
}

// HasPassedGate reports whether tasks of the gang have passed the gate of their queue but have no node yet.
func (j *Job) HasPassedGate() bool { return slices.ContainsFunc(j.Tasks, (*model.Task).HasPassedGate) }
