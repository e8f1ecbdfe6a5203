package sim

import (
	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// checkBindTargets checks that no pod is bound to a node which the scheduler knows to be cordoned, tainted or deleted. No
// pod of a world tolerates taints.
func (w *World) checkBindTargets(d *decision.Decisions, c *model.Cluster) {
	for i := range d.Binds {
		b := &d.Binds[i]
		id, exists := c.Nodes.Find(b.Node)
		switch {
		case !exists || !c.Nodes.Alive[id]:
			w.fail("pod %s is bound to node %s, which does not exist", b.Pod.Name, b.Node)
		case c.Nodes.Info[id].Unschedulable:
			w.fail("pod %s is bound to node %s, which is cordoned", b.Pod.Name, b.Node)
		case len(c.Nodes.Info[id].Taints) > 0:
			w.fail("pod %s is bound to node %s, which has the taint %s", b.Pod.Name, b.Node, c.Nodes.Info[id].Taints[0].Key)
		}
	}
}

// checkGangBinds checks that a gang of which pods are bound has its minimum afterwards. The decisions have been assumed in
// the model.
func (w *World) checkGangBinds(d *decision.Decisions, c *model.Cluster) {
	for i := range d.Binds {
		g := c.Gangs[d.Binds[i].Gang.Key()]
		if g != nil && g.UID == d.Binds[i].Gang.UID && g.CountReady() < g.MinMember {
			w.fail("pod %s is bound, but its PodGroup has only %d of %d pods", d.Binds[i].Pod.Name, g.CountReady(), g.MinMember)
		}
	}
}

// checkEvictions checks that pods are evicted in favor of a gang with a higher priority in the same queue, or of a gang
// in another queue.
func (w *World) checkEvictions(d *decision.Decisions, c *model.Cluster) {
	for i := range d.Evicts {
		e := &d.Evicts[i]
		taker, victim := c.Gangs[e.Preemptor.Key()], c.Gangs[e.Gang.Key()]
		if taker == nil || victim == nil || taker == victim {
			continue
		}
		if taker.Queue == nil || victim.Queue == nil {
			continue
		}
		isSameQueue := taker.Queue == victim.Queue
		switch e.Reason {
		case "preempt", "gangpreempt":
			if !isSameQueue {
				w.fail("pod %s of queue %s is preempted by %s of queue %s", e.Pod.Name, victim.Queue.Name, taker.Name, taker.Queue.Name)
			} else if victim.Priority >= taker.Priority {
				w.fail("pod %s with priority %d is preempted by %s with priority %d", e.Pod.Name, victim.Priority, taker.Name, taker.Priority)
			}
		case "reclaim", "gangreclaim":
			if isSameQueue {
				w.fail("pod %s is reclaimed by %s of the same queue", e.Pod.Name, taker.Name)
			}
		}
	}
}

// checkAdmissions checks that no gang is admitted to a queue which the scheduler knows to be closed or missing.
func (w *World) checkAdmissions(d *decision.Decisions, c *model.Cluster) {
	for i := range d.Gangs {
		g := &d.Gangs[i]
		before := w.state.groups[types.NamespacedName{Namespace: g.Gang.Namespace, Name: g.Gang.Name}]
		if before == nil || before.UID != g.Gang.UID || before.Status.Phase != schedulingv1beta1.PodGroupPending {
			continue
		}
		gang := c.Gangs[g.Gang.Key()]
		if g.Status.Phase != schedulingv1beta1.PodGroupInqueue || w.wasAdmitted(g.Gang.UID) {
			continue
		}
		if gang == nil || gang.Queue == nil {
			continue
		}
		if !gang.Queue.Known || !gang.Queue.Open {
			w.fail("PodGroup %s is admitted to queue %s, which is not open", g.Gang.Name, gang.Queue.Name)
		}
		w.checks.admitted[g.Gang.UID] = true
	}
}

// wasAdmitted reports whether a scheduler has admitted a PodGroup before. Its status may not be written yet.
func (w *World) wasAdmitted(group types.UID) bool { return w.checks.admitted[group] }
