package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
)

// A pod can request to stay gated until its queue has room for it. The admission webhook then sets a scheduling gate,
// and the scheduler removes it. After that, the queue reserves the pod's request until the pod has a node.

// onlyQueueGate reports whether the queue gate is the pod's only scheduling gate.
func onlyQueueGate(gates []corev1.PodSchedulingGate) bool {
	return len(gates) > 0 && !slices.ContainsFunc(gates, func(g corev1.PodSchedulingGate) bool { return g.Name != keys.QueueAllocationGate })
}

// gateNames returns the names of a pod's scheduling gates.
func gateNames(gates []corev1.PodSchedulingGate) []string {
	var names []string
	for _, gate := range gates {
		names = append(names, gate.Name)
	}
	return names
}

// AtQueueGate reports whether the task waits only for the removal of its queue gate.
func (t *Task) AtQueueGate() bool { return t.Status == Pending && t.QueueGated && !t.ungating }

// HasPassed reports whether the task's queue gate was removed but the task has no node yet. The queue reserves room
// for such a task.
func (t *Task) HasPassed() bool {
	return t.Status == Pending && (!t.Gated || t.ungating) && t.Annotations[keys.QueueAllocationGate] == "true"
}

// Ungating reports whether the removal of the task's queue gate was decided but not confirmed yet.
func (t *Task) Ungating() bool { return t.ungating }

// UngateFailed reports that a pod's queue gate was not removed.
type UngateFailed struct{ UID types.UID }

func (d UngateFailed) apply(c *Cluster) {
	if t := c.tasks[d.UID]; t != nil && t.ungating {
		t.ungating = false
		c.gateMoved(t)
	}
}

// AssumeUngated records that a pod's queue gate will be removed.
func (c *Cluster) AssumeUngated(uid types.UID) {
	if t := c.tasks[uid]; t != nil && t.QueueGated {
		t.ungating = true
		c.gateMoved(t)
	}
}

func (c *Cluster) gateMoved(t *Task) {
	c.QueueGateGen = c.next()
	if t.Gang != nil {
		c.touchGang(t.Gang)
	}
}

// trackGate adds sign (1 or -1) to the number of tasks that have or had a queue gate.
func (c *Cluster) trackGate(t *Task, sign int) {
	if t.Annotations[keys.QueueAllocationGate] == "true" && !t.Status.Ended() {
		c.queueGates += sign
		c.QueueGateGen = c.next()
	}
}

// QueueGates reports whether any task has or had a queue gate.
func (c *Cluster) QueueGates() bool { return c.queueGates > 0 }
