package model

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// NodeUsage is the actual load of a node, averaged over some minutes. A zero At means that the load is unknown.
type NodeUsage struct {
	CPUPercent, MemoryPercent float64
	At                        time.Time
}

// NodeUsageSet sets the measured load of a node.
type NodeUsageSet struct {
	Node string
	NodeUsage
}

func (d NodeUsageSet) apply(c *Cluster) {
	n := &c.Nodes
	id, ok := n.byName[d.Node]
	if !ok || !n.Alive[id] || n.Usage[id] == d.NodeUsage {
		return
	}
	n.Usage[id] = d.NodeUsage
	n.Labeled[id] = c.nextGeneration()
	c.markNodeChanged(id)
}

// AssumeAnnotated records the annotations that are written with a pod's assumed binding.
func (c *Cluster) AssumeAnnotated(uid types.UID, notes map[string]string) {
	if t := c.tasks[uid]; t != nil && t.assumedNode != NoNode {
		t.assumedNotes = notes
		t.mergeAnnotations()
	}
}
