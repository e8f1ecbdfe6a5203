package framework

import (
	"cmp"
	"maps"
	"slices"

	"github.com/vc-batch/vc/internal/model"
)

// equalParts returns the request of each of count equal pods.
func equalParts(request model.Request, count int) model.Request {
	each := make(model.Request, 0, len(request)+1)
	for _, t := range request {
		each = append(each, model.Term{Index: t.Index, Value: (t.Value + int64(count) - 1) / int64(count)})
	}
	return withOnePod(each)
}

// Template is a number of equal pods of a gang that do not exist yet.
type Template struct {
	Request model.Request
	Count   int
	// Placements hold the node constraints of the pods: a pod may run where any of the placements allows it. nil if
	// unknown.
	Placements []*model.Shape
}

// PodTemplates returns the pods of a gang's minimum before they exist, as described by its job for each task. exact is
// false if it is unknown how many pods of which task are in the minimum; the templates are then equal parts of
// minResources.
func (j *Job) PodTemplates() (list []Template, exact bool) {
	tasks, sum := slices.Sorted(maps.Keys(j.MinTaskMember)), 0
	for _, n := range j.MinTaskMember {
		sum += n
	}
	exact = sum == j.MinMember || len(tasks) == 1
	var anywhere []*model.Shape
	for _, task := range tasks {
		request, known := j.TaskRequests[task]
		exact = exact && known
		count := j.MinTaskMember[task]
		if len(tasks) == 1 {
			count = j.MinMember
		}
		var placements []*model.Shape
		if p := j.PlacementShape(task); p != nil {
			placements = []*model.Shape{p}
			anywhere = append(anywhere, p)
		}
		if count > 0 {
			list = append(list, Template{withOnePod(request), count, placements})
		}
	}
	if exact && len(list) > 0 {
		return list, true
	}
	count := max(j.MinMember, 1)
	return []Template{{equalParts(j.MinResources, count), count, anywhere}}, false
}

// withOnePod returns a request that counts as one pod.
func withOnePod(request model.Request) model.Request {
	one := slices.DeleteFunc(slices.Clone(request), func(t model.Term) bool { return t.Index == model.Pods })
	one = append(one, model.Term{Index: model.Pods, Value: 1})
	slices.SortFunc(one, func(a, b model.Term) int { return cmp.Compare(a.Index, b.Index) })
	return one
}
