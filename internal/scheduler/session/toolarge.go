package session

import (
	"maps"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// size caches whether a shape is too large in this cycle. Nodes do not change within a cycle.
type size struct {
	tooLarge bool
	limits   []explain.Limit // the resources, by name, that no node has enough of; empty if no node has enough of all at once
}

// TooLarge reports whether a shape is larger than every node that its selector, affinity and tolerations permit,
// even if these were empty. If no node is permitted, the shape is not too large.
func (s *Session) TooLarge(shape *model.Shape) bool { return s.sizeOf(shape).tooLarge }

func (s *Session) sizeOf(shape *model.Shape) size {
	if known, ok := s.sizes[shape]; ok {
		return known
	}
	var found size
	if !s.Judge.Possible(shape) {
		found = s.measure(shape)
	}
	if s.sizes == nil {
		s.sizes = map[*model.Shape]size{}
	}
	s.sizes[shape] = found
	return found
}

// measure compares a shape that fits no empty node with the nodes that it may use.
func (s *Session) measure(shape *model.Shape) size {
	nodes := &s.Cluster.Nodes
	most := make([]int64, nodes.Stride)
	allowed := false
	for _, id := range s.View.Order {
		if !s.Judge.Allowed(shape, id) {
			continue
		}
		allowed = true
		raise(most, nodes.Row(nodes.Alloc, id))
	}
	if !allowed {
		return size{}
	}
	return size{tooLarge: true, limits: s.larger(shape.Request, 1, most)}
}

// larger returns the resources, by name, of which a pod requests more than the largest node has, if parts equal
// pods request asked.
func (s *Session) larger(asked model.Request, parts int, most []int64) []explain.Limit {
	var limits []explain.Limit
	for _, t := range asked {
		if s.View.Left(int(t.Index)) {
			continue
		}
		name, has := s.Cluster.Resources.Name(int(t.Index)), float64(most[t.Index])
		if each := float64(t.Value) / float64(parts); each > has+queue.Epsilon {
			limits = append(limits, explain.Limit{Resource: name, Asked: each, Limit: has, Node: true})
		}
	}
	slices.SortFunc(limits, func(a, b explain.Limit) int { return strings.Compare(a.Resource, b.Resource) })
	return limits
}

// tooLarge sets a verdict to TooLarge, with the resources that no node has enough of.
func tooLarge(v *explain.Verdict, limits []explain.Limit) {
	v.Code, v.Limit, v.More = reason.TooLarge, nil, nil
	if len(limits) > 0 {
		v.Limit, v.More = &limits[0], limits[1:]
	}
}

// Never returns why a gang can never start: so many of its pods are larger than every node that the rest is less
// than its minimum.
func (s *Session) Never(j *framework.Job) (explain.Verdict, bool) {
	if j.Need() == 0 || len(s.View.Order) == 0 {
		return explain.Verdict{}, false
	}
	if len(j.Tasks) < j.MinMember {
		return s.neverByMinimum(j)
	}
	var large []*model.Task
	for _, t := range j.Pending {
		if s.TooLarge(t.Shape) {
			large = append(large, t)
		}
	}
	if len(j.Tasks)-len(large) >= j.MinMember {
		return explain.Verdict{}, false
	}
	v := s.JudgeNodes(j, large[0])
	tooLarge(&v, s.lowestLimits(large))
	v.Members = s.members(j, 0)
	return v, true
}

// lowestLimits returns the resources, by name, of which some of the tasks request more than any node has that they may
// use. Of each resource it returns the limit of the task that may request the least.
func (s *Session) lowestLimits(tasks []*model.Task) []explain.Limit {
	lowest := map[string]explain.Limit{}
	for _, t := range tasks {
		for _, limit := range s.sizeOf(t.Shape).limits {
			if known, is := lowest[limit.Resource]; !is || limit.Limit < known.Limit {
				lowest[limit.Resource] = limit
			}
		}
	}
	return slices.SortedFunc(maps.Values(lowest), func(a, b explain.Limit) int { return strings.Compare(a.Resource, b.Resource) })
}

// beyond changes the verdict of a gang that does not fit, or exceeds its queue's share, if its minimum is more than
// the capability of its queue or the capacity of the whole cluster.
func (s *Session) beyond(j *framework.Job, v *explain.Verdict) {
	if !s.Rules.Gang || v.Code != reason.OverDeserved && (v.Code != reason.GangDoesNotFit || v.Limit != nil) {
		return
	}
	if limits := s.beyondSmallQueues(j); len(limits) > 0 {
		v.Code, v.Limit, v.More = reason.OverCapability, &limits[0], limits[1:]
		return
	}
	var limit *explain.Limit
	cluster := s.clusterFor(j.In)
	for i, sum := range s.firstAsked(j) {
		total := cluster[i]
		if float64(sum) <= total+queue.Epsilon || s.View.Left(i) || i == model.Pods {
			continue
		}
		name := s.Cluster.Resources.Name(i)
		if least := LeastRequest(slices.Concat(j.Pending, j.AtGate), nil, j.Need(), i); least > total+queue.Epsilon && (limit == nil || name < limit.Resource) {
			limit = &explain.Limit{Queue: j.In.Name, Resource: name, Asked: least, Limit: total, Cluster: true, Kept: s.keptForGuarantees(j.In, name)}
		}
	}
	if limit != nil {
		v.Code, v.Limit = reason.GangDoesNotFit, limit
	}
}

// LeastRequest returns what the need smallest of the participating tasks request of a resource.
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

// neverByMinimum checks a gang whose pods do not exist yet by the average of minResources. This requires knowing
// how many pods minResources is for. It is minMember only if minMember is less than the sum of the roles' minimums:
// the PodGroup of a job whose tasks depend on others requests resources for all tasks and counts only the first
// ones, and a Spark driver's PodGroup includes its executors.
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
	limits := s.larger(j.MinResources, j.MinMember, s.largestNode())
	if len(limits) == 0 {
		return explain.Verdict{}, false
	}
	v := explain.Verdict{Members: s.members(j, 0)}
	tooLarge(&v, limits)
	return v, true
}

// neverByTasks checks a gang whose pods do not exist yet by the requests that its job states for each task. The
// gang can never start if pods that it needs are larger than every node: the pods of a task with a minimum of its
// own, or of all tasks.
func (s *Session) neverByTasks(j *framework.Job) (explain.Verdict, bool) {
	minimums := 0
	for _, n := range j.MinTaskMember {
		minimums += n
	}
	var first []explain.Limit
	needed, large := false, 0
	for _, task := range slices.Sorted(maps.Keys(j.MinTaskMember)) {
		request, known := j.TaskRequests[task]
		limits := s.larger(request, 1, s.largestFor(j.Placement(task)))
		if !known || len(limits) == 0 {
			continue
		}
		large++
		needed = needed || j.MinTaskMember[task] > 0 && minimums <= j.MinMember
		if first == nil {
			first = limits
		}
	}
	if allLarge := large == len(j.MinTaskMember); large == 0 || !needed && !allLarge {
		return explain.Verdict{}, false
	}
	v := explain.Verdict{Members: s.members(j, 0), OfTask: true}
	tooLarge(&v, first)
	return v, true
}

// largestFor returns the maximum of each resource over the nodes that a placement permits. If the placement is
// unknown or permits no node, it covers all nodes, because a pod without permitted nodes is not too large.
func (s *Session) largestFor(placement *model.Shape) []int64 {
	if placement == nil {
		return s.largestNode()
	}
	if known, ok := s.largestOf[placement]; ok {
		return known
	}
	nodes, allowed := &s.Cluster.Nodes, false
	most := make([]int64, nodes.Stride)
	for _, id := range s.View.Order {
		if s.Judge.Allowed(placement, id) {
			allowed = true
			raise(most, nodes.Row(nodes.Alloc, id))
		}
	}
	if !allowed {
		most = s.largestNode()
	}
	if s.largestOf == nil {
		s.largestOf = map[*model.Shape][]int64{}
	}
	s.largestOf[placement] = most
	return most
}

// raise sets each number of most to at least the number in row.
func raise(most, row []int64) {
	for i, v := range row {
		most[i] = max(most[i], v)
	}
}

// largestNode returns the maximum of each resource over all nodes.
func (s *Session) largestNode() []int64 {
	if s.largest == nil {
		nodes := &s.Cluster.Nodes
		s.largest = make([]int64, nodes.Stride)
		for _, id := range s.View.Order {
			raise(s.largest, nodes.Row(nodes.Alloc, id))
		}
	}
	return s.largest
}
