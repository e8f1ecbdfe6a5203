package model

import (
	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"
	"github.com/vc-batch/vc/internal/model/numa"
)

// NumaSet adds or replaces a node's Numatopology.
type NumaSet struct {
	Node string
	Numa numa.Topology
}

// NumaGone removes a node's Numatopology.
type NumaGone struct{ Node string }

// NumaFrom converts a Numatopology.
func NumaFrom(o *nodeinfov1alpha1.Numatopology) NumaSet {
	return NumaSet{Node: o.Name, Numa: numa.TopologyFrom(o)}
}

func (d NumaSet) apply(c *Cluster) {
	c.Numa[d.Node] = &d.Numa
	c.markRelabeled(d.Node)
}

func (d NumaGone) apply(c *Cluster) {
	delete(c.Numa, d.Node)
	c.markRelabeled(d.Node)
}

// markRelabeled marks a node as changed, so that cached decisions about the node are made again.
func (c *Cluster) markRelabeled(node string) {
	if id, ok := c.Nodes.byName[node]; ok && c.Nodes.Alive[id] {
		c.Nodes.Labeled[id] = c.nextGeneration()
		c.markNodeChanged(id)
	}
}
