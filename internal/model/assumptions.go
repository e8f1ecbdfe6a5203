package model

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// This file records decisions before the API confirms them, and reverts them if a write failed.

// AssumeShuffled records when a policy last moved pods.
func (c *Cluster) AssumeShuffled(policy string, at time.Time) {
	if c.Shuffled == nil {
		c.Shuffled = map[string]time.Time{}
	}
	c.Shuffled[policy] = at
}

func (d GangStatusFailed) apply(c *Cluster) {
	if g := c.gangUIDs[d.UID]; g != nil {
		g.unwritten = true
		c.markGangChanged(g)
	}
}

func (d QueueStatusFailed) apply(c *Cluster) {
	if q := c.Queues[d.Name]; q != nil {
		q.Published.Decided, q.Published.Unwritten = false, true
		q.Gen = c.nextGeneration()
	}
}

func (d PodConditionFailed) apply(c *Cluster) {
	if t := c.tasks[d.UID]; t != nil {
		t.Condition = PodCondition{}
		if t.Gang != nil {
			c.markGangChanged(t.Gang)
		}
	}
}

func (d BindFailed) apply(c *Cluster) {
	if t := c.tasks[d.UID]; t != nil && t.assumedNode != NoNode {
		t.assumedNode = NoNode
		t.mergeAnnotations()
		c.forgetAttached(t)
		c.moveTaskTo(t, t.seen.node, t.seen.status)
	}
}

func (d EvictFailed) apply(c *Cluster) {
	if t := c.tasks[d.UID]; t != nil && t.assumedEvicted {
		t.assumedEvicted = false
		node, status := t.mergeAssumptions()
		c.moveTaskTo(t, node, status)
	}
}

// AssumeBound records that a pod will be bound to a node.
func (c *Cluster) AssumeBound(uid types.UID, node string) {
	if t := c.tasks[uid]; t != nil && (t.Status == Pending || t.Status == Pipelined) {
		t.assumedNode = c.ensureNodeRow(node)
		if t.Gang != nil {
			t.Gang.EvictedBy = ""
			c.dropReplaced(t.Gang, node)
		}
		c.moveTaskTo(t, t.assumedNode, Binding)
	}
}

// AssumeEvicted records that a pod will be deleted, and the reason.
func (c *Cluster) AssumeEvicted(uid types.UID, why string) {
	if t := c.tasks[uid]; t != nil && t.Status.IsAllocated() {
		if t.Gang != nil {
			t.Gang.EvictedBy = why
		}
		t.assumedEvicted = true
		c.moveTaskTo(t, t.Node, Releasing)
	}
}

// AssumeNominated reserves resources for a pod on a node. An empty node cancels the reservation.
func (c *Cluster) AssumeNominated(uid types.UID, node string) {
	t := c.tasks[uid]
	switch {
	case t == nil:
	case node == "" && t.Status == Pipelined:
		c.moveTaskTo(t, NoNode, Pending)
	case node != "" && (t.Status == Pending || t.Status == Pipelined):
		c.moveTaskTo(t, c.ensureNodeRow(node), Pipelined)
	}
}

// AssumeGangStatus records the status that will be written to a PodGroup.
func (c *Cluster) AssumeGangStatus(uid types.UID, status schedulingv1beta1.PodGroupStatus, at time.Time) {
	if g := c.gangUIDs[uid]; g != nil {
		g.StatusAt = at
		changed := g.Status.Phase != status.Phase
		if isSameGangStatus(&g.Status, &status) {
			g.rewrites++
		} else {
			g.rewrites = 0
		}
		g.Status, g.ours, g.unwritten, g.unconfirmed = status, true, false, false
		if changed {
			c.markGangChanged(g)
		}
	}
}

// AssumePodCondition records the condition that will be written to a pod.
func (c *Cluster) AssumePodCondition(uid types.UID, condition PodCondition) {
	if t := c.tasks[uid]; t != nil {
		t.Condition = condition
	}
}

// AssumeQueueStatus records the status that will be written to a queue.
func (c *Cluster) AssumeQueueStatus(name string, published QueuePublished) {
	if q := c.Queues[name]; q != nil {
		published.Decided = true
		if published.IsSameStatus(&q.Published) {
			published.Rewrites = q.Published.Rewrites + 1
		}
		q.Published = published
	}
}

// RefreshAssumed updates the sums after a series of Assume calls.
func (c *Cluster) RefreshAssumed() { c.refreshQueues() }

// AssumeAnnotated records the annotations that are written with a pod's assumed binding.
func (c *Cluster) AssumeAnnotated(uid types.UID, notes map[string]string) {
	if t := c.tasks[uid]; t != nil && t.assumedNode != NoNode {
		t.assumedNotes = notes
		t.mergeAnnotations()
	}
}

// AssumeAllocatedHyperNode records that the HyperNode annotation of a gang will be written.
func (c *Cluster) AssumeAllocatedHyperNode(uid types.UID, name string) {
	if g := c.gangUIDs[uid]; g != nil {
		g.Annotations = maps.Clone(g.Annotations)
		if g.Annotations == nil {
			g.Annotations = map[string]string{}
		}
		g.Annotations[keys.AllocatedHyperNode] = name
	}
}
