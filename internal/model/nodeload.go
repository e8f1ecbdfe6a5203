package model

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// NodeUsage is a node's real load, averaged over some minutes; At zero: not known.
type NodeUsage struct {
	CPUPercent, MemoryPercent float64
	At                        time.Time
}

// NodeUsageSet says how loaded a node was measured to be.
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
	n.Labeled[id] = c.next()
	c.touch(id)
}

// AssumeAnnotated notes the annotations that go out with a pod's assumed binding.
func (c *Cluster) AssumeAnnotated(uid types.UID, notes map[string]string) {
	if t := c.tasks[uid]; t != nil && t.assumedNode != NoNode {
		t.assumedNotes = notes
		t.annotate()
	}
}
