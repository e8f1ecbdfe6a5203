package session

import (
	"maps"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// IsTooLarge reports whether a shape is larger than every node that its selector, affinity and tolerations permit.
func (s *Session) IsTooLarge(shape *model.Shape) bool {
	tooLarge, _ := s.sizes.IsTooLarge(shape)
	return tooLarge
}

// NeverStarts returns why a gang can never start. This is the case if so many of its pods are larger than every node
// that the remaining pods are fewer than its minimum.
func (s *Session) NeverStarts(j *framework.Job) (explain.Verdict, bool) {
	if j.Need() == 0 || len(s.View.Order) == 0 {
		return explain.Verdict{}, false
	}
	if len(j.Tasks) < j.MinMember {
		return s.neverByMinimum(j)
	}
	var large []*model.Task
	for _, t := range j.Pending {
		if s.IsTooLarge(t.Shape) {
			large = append(large, t)
		}
	}
	if len(j.Tasks)-len(large) >= j.MinMember {
		return explain.Verdict{}, false
	}
	v := s.JudgeNodes(j, large[0])
	setTooLarge(&v, s.lowestLimits(large))
	v.Members = s.Members(j, 0)
	return v, true
}

// lowestLimits returns the resources, by name, for which some of the tasks request more than any node that they may
// use has. For each resource, it returns the lowest limit among these tasks.
func (s *Session) lowestLimits(tasks []*model.Task) []explain.Limit {
	lowest := map[string]explain.Limit{}
	for _, t := range tasks {
		_, limits := s.sizes.IsTooLarge(t.Shape)
		for _, limit := range limits {
			if known, is := lowest[limit.Resource]; !is || limit.Limit < known.Limit {
				lowest[limit.Resource] = limit
			}
		}
	}
	return slices.SortedFunc(maps.Values(lowest), func(a, b explain.Limit) int { return strings.Compare(a.Resource, b.Resource) })
}

// ExplainExceeded changes the verdict of a gang that does not fit, or that exceeds its queue's share, if its minimum
// is more than the capability of its queue or the capacity of the whole cluster.
func (s *Session) ExplainExceeded(j *framework.Job, v *explain.Verdict) {
	lacksNodes := v.Code == reason.GangDoesNotFit && v.Limit == nil
	if !s.Rules.Gang || (v.Code != reason.OverDeserved && !lacksNodes) {
		return
	}
	if limits := s.beyondSmallQueues(j); len(limits) > 0 {
		v.Code, v.Limit, v.More = reason.OverCapability, &limits[0], limits[1:]
		return
	}
	var limit *explain.Limit
	cluster := s.clusterCapacityFor(j.In)
	for i, sum := range s.RequestedTogether(j) {
		total := cluster[i]
		if float64(sum) <= total+queue.Epsilon || s.View.IsExcluded(i) || i == resource.Pods {
			continue
		}
		name := s.Cluster.Resources.Name(i)
		if least := LeastRequest(slices.Concat(j.Pending, j.AtGate), nil, j.Need(), i); least > total+queue.Epsilon && (limit == nil || name < limit.Resource) {
			limit = &explain.Limit{Queue: j.In.Name, Resource: name, Asked: least, Limit: total, Cluster: true, Kept: s.reservedForGuarantees(j.In, name)}
		}
	}
	if limit != nil {
		v.Code, v.Limit = reason.GangDoesNotFit, limit
	}
}

// neverByMinimum checks a gang whose pods do not exist yet by the average of minResources. For this, it must be known
// for how many pods minResources is. The number is minMember only if minMember is less than the sum of the roles'
// minimums. Otherwise, minResources may include more pods: the PodGroup of a job whose tasks depend on others
// requests resources for all tasks but counts only the first ones, and a Spark driver's PodGroup includes its
// executors.
func (s *Session) neverByMinimum(j *framework.Job) (explain.Verdict, bool) {
	if j.AllocatedTasks() == 0 && len(j.TaskRequests) > 0 {
		return s.neverByTasks(j)
	}
	sum := 0
	for _, n := range j.MinTaskMember {
		sum += n
	}
	if !j.HasMinResources || j.AllocatedTasks() > 0 || sum <= j.MinMember {
		return explain.Verdict{}, false
	}
	limits := s.sizes.ExceededLimits(j.MinResources, j.MinMember, s.sizes.LargestAmounts())
	if len(limits) == 0 {
		return explain.Verdict{}, false
	}
	v := explain.Verdict{Members: s.Members(j, 0)}
	setTooLarge(&v, limits)
	return v, true
}

// neverByTasks checks a gang whose pods do not exist yet by the requests that its job states for each task. The gang
// can never start if pods that it needs are larger than every node. It needs the pods of a task that has a minimum of
// its own, or some of the pods of all tasks.
func (s *Session) neverByTasks(j *framework.Job) (explain.Verdict, bool) {
	minimums := 0
	for _, n := range j.MinTaskMember {
		minimums += n
	}
	var first []explain.Limit
	needed, large := false, 0
	for _, task := range slices.Sorted(maps.Keys(j.MinTaskMember)) {
		request, known := j.TaskRequests[task]
		limits := s.sizes.ExceededLimits(request, 1, s.sizes.LargestPermitted(j.PlacementShape(task)))
		if !known || len(limits) == 0 {
			continue
		}
		large++
		needed = needed || (j.MinTaskMember[task] > 0 && minimums <= j.MinMember)
		if first == nil {
			first = limits
		}
	}
	if allLarge := large == len(j.MinTaskMember); large == 0 || (!needed && !allLarge) {
		return explain.Verdict{}, false
	}
	v := explain.Verdict{Members: s.Members(j, 0), OfTask: true}
	setTooLarge(&v, first)
	return v, true
}
