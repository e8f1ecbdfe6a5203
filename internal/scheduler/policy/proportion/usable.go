package proportion

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/fit"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// capacity is what queues can have of a node: without what pods outside of queues hold there, and what their own pods
// hold already.
type capacity struct{ left, own model.Vec }

// usable sums up what of the nodes queues can share: what pods outside of queues hold is left out, and so is a node
// whose taints or cordon no pod of a queue tolerates, but for what such pods hold there already.
func (p *Policy) usable(s *session.Session) []float64 {
	nodes := &s.Cluster.Nodes
	p.capacities.Update(s, func(id model.NodeID) capacity { return capacityOf(nodes, id) }, nil)
	total := make([]float64, len(s.Ledger.Total))
	open := &openNodes{shapes: s.Cluster.Shapes}
	for _, id := range s.View.Order {
		from := p.capacities.Values[id]
		sum := from.own
		if open.takes(nodes.Info[id]) {
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

func capacityOf(nodes *model.Nodes, id model.NodeID) capacity {
	c := capacity{left: slices.Clone(nodes.Row(nodes.Alloc, id))}
	for _, t := range nodes.Tasks[id] {
		switch {
		case !t.Status.OnNode():
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

// openNodes reports which nodes pods of queues may use, as far as taints and cordons go.
type openNodes struct {
	shapes []*model.Shape
	known  []answer
}

// answer is what was found out about nodes with the same taints.
type answer struct {
	taints   []corev1.Taint
	cordoned bool
	open     bool
}

func (o *openNodes) takes(info *model.NodeInfo) bool {
	if !info.Unschedulable && !slices.ContainsFunc(info.Taints, keepsOff) {
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
		return shape != nil && shape.InQueues() && fit.Tolerates(shape, &all)
	})
	o.known = append(o.known, answer{info.Taints, info.Unschedulable, open})
	return open
}

func keepsOff(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }
