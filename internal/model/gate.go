package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
)

// A pod may ask to be gated until its queue has room for it: admission sets the gate, the scheduler takes it away. What it is for
// stays reserved in the queue until the pod has a node.

// onlyQueueGate says whether nothing but the queue's gate keeps a pod from being placed.
func onlyQueueGate(gates []corev1.PodSchedulingGate) bool {
	return len(gates) > 0 && !slices.ContainsFunc(gates, func(g corev1.PodSchedulingGate) bool { return g.Name != keys.QueueAllocationGate })
}

// AtQueueGate says whether the task waits for its queue to let it through, and nobody else.
func (t *Task) AtQueueGate() bool { return t.Status == Pending && t.QueueGated && !t.ungating }

// HasPassed says whether the task was let through its queue's gate and has no node yet: its queue keeps room for it.
func (t *Task) HasPassed() bool {
	return t.Status == Pending && (!t.Gated || t.ungating) && t.Annotations[keys.QueueAllocationGate] == "true"
}

// Ungating says whether the task's gate is being taken away.
func (t *Task) Ungating() bool { return t.ungating }

// UngateFailed says that a pod's gate was not taken away.
type UngateFailed struct{ UID types.UID }

func (d UngateFailed) apply(c *Cluster) {
	if t := c.tasks[d.UID]; t != nil && t.ungating {
		t.ungating = false
		c.gateMoved(t)
	}
}

// AssumeUngated notes that a pod's gate will be taken away.
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

// trackGate counts (1, -1) tasks that queues' gates are about.
func (c *Cluster) trackGate(t *Task, sign int) {
	if t.Annotations[keys.QueueAllocationGate] == "true" && !t.Status.Ended() {
		c.queueGates += sign
		c.QueueGateGen = c.next()
	}
}

// QueueGates says whether there are tasks that queues' gates are about.
func (c *Cluster) QueueGates() bool { return c.queueGates > 0 }
