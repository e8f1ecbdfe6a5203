package tasktopology

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// bucket is a set of pods that are best placed on one node.
type bucket struct {
	index int
	size  int            // number of pods in the bucket, placed or waiting
	roles map[string]int // number of pods in the bucket, by task
	on    map[model.NodeID]int
	// shapes lists the distinct shapes of the waiting pods, in order of first use; waiting holds the number of waiting
	// pods of each shape.
	shapes  []*model.Shape
	waiting map[*model.Shape]int
	weight  float64 // total request of the pods
}

// plan assigns the pods of a gang to buckets.
type plan struct {
	wishes   *wishes
	buckets  []*bucket
	bucketOf map[*model.Task]*bucket
	largest  int
	// at holds the number of the gang's pods, by node and task, including placements of this cycle.
	at    map[model.NodeID]map[string]int
	tried map[*model.Task]bool
}

// newPlan assigns the pods of a gang to buckets. Pods on the same node are in the same bucket. Every other pod, in the
// order of tasks, is added to the bucket to which it has the best affinity.
func newPlan(g *model.Gang, w *wishes) *plan {
	p := &plan{wishes: w, bucketOf: map[*model.Task]*bucket{}, largest: 1, at: map[model.NodeID]map[string]int{}, tried: map[*model.Task]bool{}}
	byNode := map[model.NodeID]*bucket{}
	for _, t := range p.sortedTasks(g) {
		if isBoundToNode(t) {
			p.countOnNode(t, t.Node, 1)
			if !w.named[t.Role] {
				continue
			}
			b := byNode[t.Node]
			if b == nil {
				b = p.newBucket()
				byNode[t.Node] = b
			}
			b.addTaskToBucket(t)
			b.on[t.Node]++
			p.bucketOf[t] = b
			continue
		}
		if !w.named[t.Role] {
			continue
		}
		b := p.bestBucket(t)
		b.addTaskToBucket(t)
		b.countWaiting(t, 1)
		p.bucketOf[t] = b
	}
	for _, b := range p.buckets {
		p.largest = max(p.largest, b.size)
	}
	return p
}

func isBoundToNode(t *model.Task) bool { return t.Status.IsAllocated() && t.Node != model.NoNode }

// sortedTasks returns the placed and the waiting pods of a gang. Placed pods come first. Otherwise, pods are sorted by
// the configured order of tasks, then by the rank of the task, the index and the name.
func (p *plan) sortedTasks(g *model.Gang) []*model.Task {
	tasks := slices.DeleteFunc(slices.Clone(g.Tasks), func(t *model.Task) bool {
		return !isBoundToNode(t) && t.Status != model.Pending && t.Status != model.Pipelined
	})
	slices.SortFunc(tasks, func(a, b *model.Task) int {
		return cmp.Or(-framework.CompareBool(isBoundToNode(a), isBoundToNode(b)), p.compareRoles(a.Role, b.Role), cmp.Compare(a.Index, b.Index), strings.Compare(a.Name, b.Name))
	})
	return tasks
}

func (p *plan) compareRoles(a, b string) int {
	place := func(role string) int {
		if n := p.wishes.order[role]; n > 0 {
			return n
		}
		return math.MaxInt
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(p.wishes.rankTask(a), p.wishes.rankTask(b)), strings.Compare(a, b))
}

func (p *plan) newBucket() *bucket {
	b := &bucket{index: len(p.buckets), roles: map[string]int{}, on: map[model.NodeID]int{}, waiting: map[*model.Shape]int{}}
	p.buckets = append(p.buckets, b)
	return b
}

// bestBucket returns the bucket to which a pod has the best affinity. Among equal buckets, it returns the one with the
// smallest request. If all buckets repel the pod, it creates a new one.
func (p *plan) bestBucket(t *model.Task) *bucket {
	var best *bucket
	most := 0
	for _, b := range p.buckets {
		wants := 0
		for role, n := range b.roles {
			wants += n * p.wishes.affinityOf(t.Role, role)
		}
		if wants < 0 {
			continue
		}
		isBest := best == nil || wants > most
		if isBest || (wants == most && b.weight < best.weight) {
			best, most = b, wants
		}
	}
	if best == nil {
		return p.newBucket()
	}
	return best
}

func (b *bucket) addTaskToBucket(t *model.Task) {
	b.size++
	b.roles[t.Role]++
	for _, term := range t.Shape.Request {
		switch v := float64(term.Value); int(term.Index) {
		case resource.Pods:
		case resource.Memory:
			b.weight += v / (1 << 20)
		default:
			b.weight += v
		}
	}
}

func (b *bucket) countWaiting(t *model.Task, sign int) {
	if _, known := b.waiting[t.Shape]; !known {
		b.shapes = append(b.shapes, t.Shape)
	}
	b.waiting[t.Shape] += sign
}

func (p *plan) countOnNode(t *model.Task, id model.NodeID, sign int) {
	if p.at[id] == nil {
		p.at[id] = map[string]int{}
	}
	p.at[id][t.Role] += sign
}

// updatePlaced updates the plan after a pod was placed on a node, or after the placement was undone.
func (p *plan) updatePlaced(t *model.Task, id model.NodeID, sign int) {
	if sign < 0 && !p.tried[t] { // a promised placement that was not counted
		return
	}
	p.tried[t] = sign > 0
	p.countOnNode(t, id, sign)
	if b := p.bucketOf[t]; b != nil {
		b.on[id] += sign
		b.countWaiting(t, -sign)
	}
}

// countRepelled returns the number of the gang's pods on a node from which a pod should be separated.
func (p *plan) countRepelled(t *model.Task, id model.NodeID) int {
	n := 0
	for role, count := range p.at[id] {
		if p.wishes.avoidsTask(t.Role, role) {
			n += count
		}
	}
	return n
}

// countFitting returns the number of waiting pods in the bucket that fit on a node together, counting resources that
// are being released as free.
func (b *bucket) countFitting(s *session.Session, id model.NodeID) int {
	left := s.View.Nodes.Row(s.View.Future, id)
	if len(b.shapes) > 1 {
		left = slices.Clone(left)
	}
	sum := 0
	for _, shape := range b.shapes {
		n := int64(b.waiting[shape])
		for _, term := range shape.Request {
			if term.Value > 0 {
				n = min(n, left[term.Index]/term.Value)
			}
		}
		n = max(n, 0)
		sum += int(n)
		if len(b.shapes) > 1 {
			for _, term := range shape.Request {
				left[term.Index] -= n * term.Value
			}
		}
	}
	return sum
}

// compareTasks compares two pods by the order in which they are placed: pods in buckets first, larger buckets first,
// and by task within each bucket.
func (p *plan) compareTasks(a, b *model.Task) int {
	x, y := p.bucketOf[a], p.bucketOf[b]
	switch {
	case x == nil || y == nil:
		return framework.CompareBool(x == nil, y == nil)
	case x != y:
		return cmp.Or(-cmp.Compare(x.size, y.size), cmp.Compare(x.index, y.index))
	}
	return p.compareRoles(a.Role, b.Role)
}
