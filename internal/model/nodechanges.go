package model

import "slices"

// ensureNodeRow returns the row for a node name. If there is no such row, ensureNodeRow adds a dead one.
func (c *Cluster) ensureNodeRow(name string) NodeID {
	n := &c.Nodes
	if id, ok := n.byName[name]; ok {
		return id
	}
	defer func() { c.dead = append(c.dead, n.byName[name]) }() // recycle the row unless something uses it
	if k := len(n.free); k > 0 {
		id := n.free[k-1]
		n.free = n.free[:k-1]
		n.Name[id] = name
		n.byName[name] = id
		return id
	}
	id := NodeID(n.Len())
	n.Name = append(n.Name, name)
	n.Alive = append(n.Alive, false)
	n.Info = append(n.Info, nil)
	n.Tasks = append(n.Tasks, nil)
	n.Changed = append(n.Changed, 0)
	n.Labeled = append(n.Labeled, 0)
	n.PortsChanged = append(n.PortsChanged, 0)
	n.Usage = append(n.Usage, NodeUsage{})
	for _, array := range n.valueArrays() {
		*array = append(*array, make([]int64, n.Stride)...)
	}
	n.byName[name] = id
	return id
}

// recycleRow frees the row of a dead node that has no tasks.
func (c *Cluster) recycleRow(id NodeID) {
	n := &c.Nodes
	if n.Alive[id] || len(n.Tasks[id]) > 0 || n.Name[id] == "" {
		return
	}
	delete(n.byName, n.Name[id])
	n.Name[id] = ""
	n.Info[id] = nil
	n.Usage[id] = NodeUsage{}
	for _, array := range n.valueArrays() {
		clear(n.Row(*array, id))
	}
	n.free = append(n.free, id)
}

func (d NodeSet) apply(c *Cluster) {
	id := c.ensureNodeRow(d.Name)
	n := &c.Nodes
	request := c.Resources.Request(d.Allocatable)
	c.widenNodes()
	row := n.Row(n.Alloc, id)
	fresh := make([]int64, n.Stride)
	for _, t := range request {
		fresh[t.Index] = t.Value
	}
	if !slices.Equal(row, fresh) || !n.Alive[id] {
		if n.Alive[id] {
			c.total.Add(row, -1)
		}
		copy(row, fresh)
		c.total.Add(row, 1)
		c.total.WriteSumsTo(&c.Total)
		c.markNodeChanged(id)
		c.TotalGen = c.nextGeneration()
	}
	info := &NodeInfo{Labels: d.Labels, Taints: d.Taints, Unschedulable: d.Unschedulable, Images: d.Images, Annotations: d.Annotations, Devices: d.Devices}
	if !n.Alive[id] || !info.isSameAs(n.Info[id]) {
		if n.Alive[id] {
			n.countImages(n.Info[id].Images, -1)
		}
		n.countImages(info.Images, 1)
		info.Node = toAPINode(d.Name, d.Labels)
		n.Info[id] = info
		n.Labeled[id] = c.nextGeneration()
		c.markNodeChanged(id)
	}
	if !n.Alive[id] {
		n.Alive[id] = true
		c.NodeCount++
		c.NodeSetGen = c.nextGeneration()
	}
}

func (d NodeGone) apply(c *Cluster) {
	n := &c.Nodes
	id, ok := n.byName[d.Name]
	if !ok || !n.Alive[id] {
		return
	}
	n.Alive[id] = false
	n.countImages(n.Info[id].Images, -1)
	c.NodeCount--
	c.total.Add(n.Row(n.Alloc, id), -1)
	c.total.WriteSumsTo(&c.Total)
	c.TotalGen, c.NodeSetGen, n.Labeled[id] = c.nextGeneration(), c.nextGeneration(), c.nextGeneration()
	c.markNodeChanged(id)
	for _, t := range slices.Clone(n.Tasks[id]) {
		if t.Status == Pipelined { // the promised resources no longer exist
			c.moveTaskTo(t, NoNode, Pending)
		}
	}
	c.dead = append(c.dead, id)
}
