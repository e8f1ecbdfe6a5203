package cycle

import (
	"math"
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// mostEmptyShapes bounds the number of cached shapes.
const mostEmptyShapes = 4096

// emptySlots returns how many pods of a shape would fit on the nodes if no gang ran on them, considering the node
// rules for a single pod.
func (s *Cycle) emptySlots(shape *model.Shape) int {
	s.syncEmptyNodes()
	sum, known := s.EmptyNodes.slots[shape]
	if !known {
		sum = s.countEmptySlots([]*model.Shape{shape}, shape.Request)
		s.EmptyNodes.slots[shape] = sum
	}
	return sum
}

func (s *Cycle) syncEmptyNodes() framework.EmptyStamp {
	stamp := framework.EmptyStamp{Epoch: s.View.Epoch, Total: s.Cluster.TotalGen, Labels: s.View.LabelsChanged, Foreign: s.Cluster.ForeignGen}
	if s.EmptyNodes == nil {
		s.EmptyNodes = &EmptyNodes{}
	}
	if e := s.EmptyNodes; e.slots == nil || e.stamp != stamp || len(e.slots) > mostEmptyShapes {
		e.stamp, e.slots, e.free = stamp, map[*model.Shape]int{}, nil
	}
	return stamp
}

// countEmptySlots returns how many requests fit on nodes that all of the shapes may use, if no gang ran on them.
func (s *Cycle) countEmptySlots(shapes []*model.Shape, request resource.Request) int {
	nodes, sum := &s.Cluster.Nodes, 0
	for _, id := range s.View.Order {
		if slices.ContainsFunc(shapes, func(shape *model.Shape) bool { return !s.Judge.IsAllowed(shape, id) }) {
			continue
		}
		has, foreign := nodes.Row(nodes.Alloc, id), nodes.Row(nodes.Foreign, id)
		most := int64(math.MaxInt16)
		for _, t := range request {
			if t.Value > 0 && !s.View.IsExcluded(int(t.Index)) {
				most = min(most, (has[t.Index]-foreign[t.Index])/t.Value)
			}
		}
		sum += int(max(most, 0))
	}
	return sum
}

// exceedsEmptyNodes reports whether a gang's declared minimum is more than all nodes together would have free if no
// gang ran on them. It returns false for a gang in a queue whose cluster grows.
func (s *Cycle) exceedsEmptyNodes(j *framework.Job) bool {
	if j.In.Grows() || len(s.View.Order) == 0 {
		return false
	}
	free := s.freeOnEmptyNodes()
	return slices.ContainsFunc(j.MinResources, func(t resource.Term) bool {
		i := int(t.Index)
		if i >= len(free) {
			return t.Value > 0 // no node has any of the resource
		}
		return !s.View.IsExcluded(i) && t.Value > free[i]
	})
}

// freeOnEmptyNodes returns, for each resource, how much the nodes would have free if no gang ran on them.
func (s *Cycle) freeOnEmptyNodes() []int64 {
	s.syncEmptyNodes()
	nodes := &s.Cluster.Nodes
	if len(s.EmptyNodes.free) == nodes.Stride {
		return s.EmptyNodes.free
	}
	free := make([]int64, nodes.Stride)
	for _, id := range s.View.Order {
		foreign := nodes.Row(nodes.Foreign, id)
		for i, has := range nodes.Row(nodes.Alloc, id) {
			free[i] += max(has-foreign[i], 0)
		}
	}
	s.EmptyNodes.free = free
	return free
}

// couldFitAlone reports whether a gang would find nodes if no other gang ran, as far as counting can decide. The
// result is cached until the gang or the nodes change.
func (s *Cycle) couldFitAlone(j *framework.Job) (could, decided bool) {
	stamp := s.syncEmptyNodes()
	if k := &j.Alone; k.Gen != j.Gen || k.Stamp != stamp || !k.Decided {
		*k = framework.FitAlone{Gen: j.Gen, Stamp: stamp}
		k.Could, k.Decided = s.countAlone(j)
	}
	return j.Alone.Could, j.Alone.Decided
}

func (s *Cycle) countAlone(j *framework.Job) (could, decided bool) {
	shapes, first := j.WaitingShapes()
	if !s.emptyNodesSuffice(j, shapes) {
		return false, true
	}
	if j.AllocatedTasks() > 0 || j.IsStructured() {
		return false, false
	}
	for i, shape := range shapes {
		if needsMoreThanRequest(shape) || shape.Impossible {
			return false, false
		}
		if s.PodCounts.ProfileFor(first[i]) != nil || s.HasPolicyRestriction(j, first[i]) {
			return false, false
		}
	}
	if len(shapes) == 1 {
		return true, true
	}
	// If each pod requested the maximum of all of them, and used only nodes that all may use, the order would not
	// matter.
	if s.countEmptySlots(shapes, largestRequest(shapes)) >= len(j.Pending)+len(j.AtGate) {
		return true, true
	}
	return false, false
}

// emptyNodesSuffice reports whether the nodes have enough free capacity for the gang's minimum and for the minimum of
// each role. It counts each shape as if there were no others.
func (s *Cycle) emptyNodesSuffice(j *framework.Job, shapes []*model.Shape) bool {
	places := 0
	for _, shape := range shapes {
		places += s.emptySlots(shape)
	}
	if places < j.Need() {
		return false
	}
	for role, need := range j.RoleNeeds() {
		var counted []*model.Shape
		for _, list := range [2][]*model.Task{j.Pending, j.AtGate} {
			for _, t := range list {
				if t.Role == role && !slices.Contains(counted, t.Shape) {
					counted = append(counted, t.Shape)
					need -= s.emptySlots(t.Shape)
				}
			}
		}
		if need > 0 {
			return false
		}
	}
	return true
}

// largestRequest returns, for each resource, the maximum that any of the shapes requests.
func largestRequest(shapes []*model.Shape) resource.Request {
	var most resource.Vec
	for _, shape := range shapes {
		for _, t := range shape.Request {
			if more := t.Value - most.Get(int(t.Index)); more > 0 {
				most.Add(resource.Request{{Index: t.Index, Value: more}})
			}
		}
	}
	var r resource.Request
	for i, v := range most {
		if v > 0 {
			r = append(r, resource.Term{Index: int32(i), Value: v})
		}
	}
	return r
}
