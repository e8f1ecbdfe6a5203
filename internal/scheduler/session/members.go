package session

import (
	"slices"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// Members returns the counts for an explanation. more is the number of pods that could be placed now.
func (s *Session) Members(j *framework.Job, more int) explain.Members {
	held := j.AllocatedTasks() + len(j.Placed)
	exist := 0
	for status, n := range j.Count {
		if (!model.Status(status).HasEnded() && !model.Status(status).IsLeaving()) || model.Status(status) == model.Succeeded {
			exist += n
		}
	}
	return explain.Members{
		Min: j.MinMember, Exist: exist, Total: len(j.Tasks), Held: held, Fit: held + more, Pending: len(j.Pending),
		Completed: j.Count[model.Succeeded], Failed: j.Count[model.Failed],
	}
}

// Filter selects the tasks that take part in a round; nil for all.
type Filter func(*model.Task) bool

// IsTryable reports whether the job's queue is open and the gang is valid. It does not set a verdict.
func (s *Session) IsTryable(j *framework.Job) bool {
	return j.In.AcceptsGangs() && s.Rules.CheckValid(j).Code == ""
}

// RequestedTogether returns the total request of the tasks that must start together.
func (s *Session) RequestedTogether(j *framework.Job) (sum resource.Vec) {
	n := max(j.Need(), 1)
	for _, list := range [2][]*model.Task{j.Pending, j.AtGate} {
		for _, t := range list[:min(n, len(list))] {
			sum.Add(t.Shape.Request)
			n--
		}
	}
	return sum
}

// LeastRequest returns the total request for a resource by the need smallest of the selected tasks.
func LeastRequest(tasks []*model.Task, filter Filter, need, index int) float64 {
	asked := make([]int64, 0, len(tasks))
	for _, t := range tasks {
		if filter == nil || filter(t) {
			asked = append(asked, t.Shape.Request.Get(index))
		}
	}
	slices.Sort(asked)
	sum := 0.0
	for _, v := range asked[:min(max(need, 1), len(asked))] {
		sum += float64(v)
	}
	return sum
}

// ContainsRequest reports whether an amount contains a request.
func ContainsRequest(amount resource.Vec, request resource.Request) bool {
	for _, t := range request {
		if amount.Get(int(t.Index)) < t.Value {
			return false
		}
	}
	return true
}
