package model

func (d HyperNodeSet) apply(c *Cluster) {
	h := d.HyperNode
	old := c.HyperNodes[h.Name]
	if old != nil && old.Published.Decided {
		h.Published = old.Published
	}
	if old != nil && h.hasSameSpec(old) {
		if old.Published != h.Published {
			old.Published = h.Published
			c.hyperSeen = c.nextGeneration()
		}
		return
	}
	c.HyperNodes[h.Name] = &h
	c.hyperGen = c.nextGeneration()
}

func (d HyperNodeGone) apply(c *Cluster) {
	if _, ok := c.HyperNodes[d.Name]; ok {
		delete(c.HyperNodes, d.Name)
		c.hyperGen = c.nextGeneration()
	}
}

func (d HyperNodeStatusFailed) apply(c *Cluster) {
	if h := c.HyperNodes[d.Name]; h != nil {
		h.Published = HyperNodePublished{}
		c.hyperSeen = c.nextGeneration()
	}
}

// HyperNodesChanged reports whether any HyperNode or its status has changed after a generation.
func (c *Cluster) HyperNodesChanged(gen uint64) bool { return max(c.hyperGen, c.hyperSeen) > gen }

// AssumeHyperNodeStatus records the status that will be written to a HyperNode.
func (c *Cluster) AssumeHyperNodeStatus(name string, published HyperNodePublished) {
	if h := c.HyperNodes[name]; h != nil {
		h.Published = published
	}
}
