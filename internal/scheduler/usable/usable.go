// Package usable computes the part of the nodes' capacity that queues can use.
package usable

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/fit"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/nodecache"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Capacity computes which part of the nodes' capacity queues can use, for a policy that divides the cluster among
// queues. A node counts if its taints and cordon permit a pod of any queue, including pods that will be created from
// the template of a waiting job. Resources held by pods outside of queues do not count. On other nodes, only the
// resources that pods of queues already hold count.
type Capacity struct {
	nodes nodecache.Table[usableNode]
}

// usableNode holds what queues can use of a node. left is the node's capacity without what pods outside of queues
// hold there; own is what pods of queues hold.
type usableNode struct{ left, own resource.Vec }

// DivideUsable computes what queues can use of the nodes, at most the nodes' capacity, and calls divide, which sets
// what each queue deserves and may have. A simulation that lets pods use other nodes calls divide again.
func (u *Capacity) DivideUsable(s *session.Session, divide func()) {
	divideUsable := func(more []*model.Shape) {
		s.Ledger.Usable = u.sumUsable(s, s.Ledger.Usable, more)
		divide()
	}
	divideUsable(nil)
	s.Rules.Divisions = append(s.Rules.Divisions, framework.Division{Divide: divideUsable})
}

// sumUsable returns the resources that queues can use if pods of the additional shapes are also waiting in queues. It
// reuses buffer.
func (u *Capacity) sumUsable(s *session.Session, buffer []float64, more []*model.Shape) []float64 {
	nodes := &s.Cluster.Nodes
	u.nodes.Update(s.Cluster, func(id model.NodeID) usableNode { return usableOf(nodes, id) }, nil)
	total := append(buffer[:0], s.Ledger.Total...)
	clear(total)
	open := &openNodes{shapes: s.Cluster.Shapes, more: more, all: s.Cluster.UndescribedGangs() > 0}
	for _, id := range s.View.Order {
		from := u.nodes.Values[id]
		sum := from.own
		if open.permitsNode(nodes.Info[id]) {
			sum = from.left
		}
		for i, v := range sum {
			if i < len(total) {
				total[i] += float64(v)
			}
		}
	}
	for i, all := range s.Ledger.Total {
		total[i] = min(total[i], all)
	}
	return total
}

func usableOf(nodes *model.Nodes, id model.NodeID) usableNode {
	c := usableNode{left: slices.Clone(nodes.Row(nodes.Alloc, id))}
	for _, t := range nodes.Tasks[id] {
		switch {
		case !t.Status.CountsOnNode():
		case t.Gang != nil && t.Gang.Queue != nil:
			c.own.Add(t.Shape.Request)
		default:
			c.left.Sub(t.Shape.Request)
		}
	}
	for i, v := range c.own {
		if i < len(c.left) {
			c.left[i] = max(c.left[i], v)
		}
	}
	return c
}

// openNodes decides which nodes pods of queues may use, according to taints and cordons.
type openNodes struct {
	shapes []*model.Shape
	// more holds shapes of simulated pods in queues.
	more []*model.Shape
	// all is true if a gang with unknown pods is waiting for admission, because these pods may use any node.
	all   bool
	known []tainted
}

// tainted caches the result for nodes with the same taints.
type tainted struct {
	taints   []corev1.Taint
	cordoned bool
	open     bool
}

func (o *openNodes) permitsNode(info *model.NodeInfo) bool {
	if o.all || (!info.Unschedulable && !slices.ContainsFunc(info.Taints, repelsPods)) {
		return true
	}
	same := func(a corev1.Taint, b corev1.Taint) bool {
		return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect
	}
	for i := range o.known {
		if k := &o.known[i]; k.cordoned == info.Unschedulable && slices.EqualFunc(k.taints, info.Taints, same) {
			return k.open
		}
	}
	all := *info
	if info.Unschedulable {
		all.Taints = append(slices.Clip(info.Taints), corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	open := slices.ContainsFunc(o.shapes, func(shape *model.Shape) bool {
		return shape != nil && shape.IsInQueues() && fit.ToleratesNode(shape, &all)
	}) || slices.ContainsFunc(o.more, func(shape *model.Shape) bool { return fit.ToleratesNode(shape, &all) })
	o.known = append(o.known, tainted{info.Taints, info.Unschedulable, open})
	return open
}

func repelsPods(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }
