package model

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
