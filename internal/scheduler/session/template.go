package session

import (
	"cmp"
	"maps"
	"slices"

	"github.com/vc-batch/vc/internal/model"
)

// template is a number of equal pods of a gang that do not exist yet.
type template struct {
	request model.Request
	count   int
	// placements hold the node constraints of the pods: a pod may run where any of the placements allows it. nil if
	// unknown.
	placements []*model.Shape
}

// templates returns the pods of a gang's minimum before they exist, as described by its job for each task. exact is
// false if it is unknown how many pods of which task are in the minimum; the templates are then equal parts of
// minResources.
func (j *Job) templates() (list []template, exact bool) {
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
		if p := j.Placement(task); p != nil {
			placements = []*model.Shape{p}
			anywhere = append(anywhere, p)
		}
		if count > 0 {
			list = append(list, template{withOnePod(request), count, placements})
		}
	}
	if exact && len(list) > 0 {
		return list, true
	}
	count := max(j.MinMember, 1)
	return []template{{parts(j.MinResources, count), count, anywhere}}, false
}

// withOnePod returns a request that counts as one pod.
func withOnePod(request model.Request) model.Request {
	one := slices.DeleteFunc(slices.Clone(request), func(t model.Term) bool { return t.Index == model.Pods })
	one = append(one, model.Term{Index: model.Pods, Value: 1})
	slices.SortFunc(one, func(a, b model.Term) int { return cmp.Compare(a.Index, b.Index) })
	return one
}

// mayRunOn reports whether pods that do not exist yet may run on a node, ignoring other pods.
func (s *Session) mayRunOn(id model.NodeID, d *template) bool {
	if d.placements == nil {
		return s.takesCandidates(id, d.request)
	}
	return slices.ContainsFunc(d.placements, func(p *model.Shape) bool { return s.Judge.Allowed(p, id) })
}

// templatesFit reports whether the pods of a gang without pods would find nodes if no gang ran, counting each task
// as if there were no others. It returns true if this is unknown.
func (s *Session) templatesFit(j *Job) bool {
	if len(j.Tasks) > 0 || j.Placement("") == nil || len(s.View.Order) == 0 {
		return true
	}
	stamp := s.syncEmptyNodes()
	if k := &j.alone; k.gen != j.Gen || k.stamp != stamp || !k.decided {
		*k = fitAlone{gen: j.Gen, stamp: stamp, could: s.countTemplates(j), decided: true}
	}
	return j.alone.could
}

func (s *Session) countTemplates(j *Job) bool {
	list, exact := j.templates()
	if !exact {
		return true
	}
	return !slices.ContainsFunc(list, func(d template) bool { return s.countEmptySlots(d.placements, d.request) < d.count })
}
