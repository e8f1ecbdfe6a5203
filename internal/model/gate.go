package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
)

// A pod can request to stay gated until its queue has room for it: the admission webhook sets the gate and the
// scheduler removes it. The pod's request stays reserved in the queue until the pod has a node.

// onlyQueueGate reports whether the queue's gate is the only scheduling gate.
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

// AtQueueGate reports whether the task waits only for its queue to admit it.
func (t *Task) AtQueueGate() bool { return t.Status == Pending && t.QueueGated && !t.ungating }

// HasPassed reports whether the task passed its queue's gate but has no node yet. Its queue reserves room for it.
func (t *Task) HasPassed() bool {
	return t.Status == Pending && (!t.Gated || t.ungating) && t.Annotations[keys.QueueAllocationGate] == "true"
}

// Ungating reports whether the removal of the task's gate was decided but not confirmed.
func (t *Task) Ungating() bool { return t.ungating }

// UngateFailed reports that a pod's gate was not removed.
type UngateFailed struct{ UID types.UID }

func (d UngateFailed) apply(c *Cluster) {
	if t := c.tasks[d.UID]; t != nil && t.ungating {
		t.ungating = false
		c.gateMoved(t)
	}
}

// AssumeUngated records that a pod's gate will be removed.
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

// trackGate adds sign (1 or -1) to the number of tasks that have or had a queue's gate.
func (c *Cluster) trackGate(t *Task, sign int) {
	if t.Annotations[keys.QueueAllocationGate] == "true" && !t.Status.Ended() {
		c.queueGates += sign
		c.QueueGateGen = c.next()
	}
}

// QueueGates reports whether any task has or had a queue's gate.
func (c *Cluster) QueueGates() bool { return c.queueGates > 0 }
