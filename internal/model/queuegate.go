package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
)

// A pod can request to stay gated until its queue has free capacity for it. The admission webhook then sets a
// scheduling gate, and the scheduler removes this gate. After that, the queue reserves the pod's request until the
// pod has a node.

// hasOnlyQueueGate reports whether the queue gate is the pod's only scheduling gate.
func hasOnlyQueueGate(gates []corev1.PodSchedulingGate) bool {
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

// AtQueueGate reports whether the task is waiting only for the removal of its queue gate.
func (t *Task) AtQueueGate() bool { return t.Status == Pending && t.QueueGated && !t.ungating }

// HasPassedGate reports whether the task's queue gate was removed but the task has no node yet. The queue reserves
// resources for such a task.
func (t *Task) HasPassedGate() bool {
	hasGate := t.Gated && !t.ungating
	return t.Status == Pending && !hasGate && t.Annotations[keys.QueueAllocationGate] == "true"
}

// IsUngating reports whether the removal of the task's queue gate was decided but not confirmed yet.
func (t *Task) IsUngating() bool { return t.ungating }

// UngateFailed reports that a pod's queue gate was not removed.
type UngateFailed struct{ UID types.UID }

func (d UngateFailed) apply(c *Cluster) {
	if t := c.tasks[d.UID]; t != nil && t.ungating {
		t.ungating = false
		c.recordGateChange(t)
	}
}

// AssumeUngated records that a pod's queue gate will be removed.
func (c *Cluster) AssumeUngated(uid types.UID) {
	if t := c.tasks[uid]; t != nil && t.QueueGated {
		t.ungating = true
		c.recordGateChange(t)
	}
}

func (c *Cluster) recordGateChange(t *Task) {
	c.QueueGateGen = c.nextGeneration()
	if t.Gang != nil {
		c.markGangChanged(t.Gang)
	}
}

// countQueueGates adds sign (1 or -1) to the number of tasks that have or had a queue gate.
func (c *Cluster) countQueueGates(t *Task, sign int) {
	if t.Annotations[keys.QueueAllocationGate] == "true" && !t.Status.HasEnded() {
		c.queueGates += sign
		c.QueueGateGen = c.nextGeneration()
	}
}

// HasQueueGates reports whether any task has or had a queue gate.
func (c *Cluster) HasQueueGates() bool { return c.queueGates > 0 }
