package framework

import (
	"cmp"
	"maps"
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
)

// equalParts returns the request of each of count equal pods.
func equalParts(request resource.Request, count int) resource.Request {
	each := make(resource.Request, 0, len(request)+1)
	for _, t := range request {
		each = append(each, resource.Term{Index: t.Index, Value: (t.Value + int64(count) - 1) / int64(count)})
	}
	return withOnePod(each)
}

// Template describes a number of equal pods of a gang that do not exist yet.
type Template struct {
	Request resource.Request
	Count   int
	// Placements hold the node constraints of the pods. A pod may run on a node if any of the placements allows it;
	// nil if the constraints are unknown.
	Placements []*model.Shape
}

// PodTemplates returns the pods of a gang's minimum before they exist, as its job describes them for each task. exact
// is false if it is unknown how many pods of which task are in the minimum. In this case, the templates are equal
// parts of minResources.
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
func withOnePod(request resource.Request) resource.Request {
	one := slices.DeleteFunc(slices.Clone(request), func(t resource.Term) bool { return t.Index == resource.Pods })
	one = append(one, resource.Term{Index: resource.Pods, Value: 1})
	slices.SortFunc(one, func(a, b resource.Term) int { return cmp.Compare(a.Index, b.Index) })
	return one
}
