package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
)

// Topology returns the tree of the current HyperNodes; nil if none exist.
func (c *Cluster) Topology() *Topology {
	if len(c.HyperNodes) == 0 {
		c.topology, c.topologyInfos = nil, nil
		return nil
	}
	if c.topology != nil && c.topology.Gen >= c.hyperGen && c.topologyNodes >= c.gen {
		return c.topology
	}
	moved := c.matchMembers()
	if c.topology == nil || moved || c.topology.Gen < c.hyperGen {
		c.topology = c.buildTopology()
	}
	c.topologyNodes = c.gen
	return c.topology
}

// matchMembers updates which nodes the patterns and labels select. It reports whether any node was added, removed or
// relabeled.
func (c *Cluster) matchMembers() bool {
	n := &c.Nodes
	fresh := c.topology == nil || c.topology.Gen < c.hyperGen
	for len(c.topologyInfos) < n.Len() {
		c.topologyInfos = append(c.topologyInfos, nodeSeen{})
	}
	moved := false
	look := func(id NodeID) {
		now, old := nodeSeen{name: n.Name[id], alive: n.Alive[id], info: n.Info[id]}, c.topologyInfos[id]
		if now == old {
			return
		}
		c.topologyInfos[id] = now
		if old.isSelectedLike(&now) {
			return
		}
		moved = true
		if fresh {
			return
		}
		for _, h := range c.HyperNodes {
			h.updateMatchedNode(n, id)
		}
	}
	if fresh || !c.NodesSince(c.topologyNodes, look) {
		for id := range n.Name {
			look(NodeID(id))
		}
	}
	for _, h := range c.HyperNodes {
		if h.matched == nil || (fresh && moved) {
			h.updateMatched(n)
		}
	}
	return moved
}

// isSelectedLike reports whether patterns and labels select a node in the same way as before.
func (s *nodeSeen) isSelectedLike(now *nodeSeen) bool {
	isSameNode := now.name == s.name && now.alive && s.alive
	return isSameNode && maps.Equal(s.info.Labels, now.info.Labels)
}

// updateMatched updates which nodes the patterns and labels of a HyperNode select.
func (h *HyperNode) updateMatched(n *Nodes) {
	if h.matched == nil {
		h.matched = map[NodeID]bool{}
	}
	for id := range n.Name {
		h.updateMatchedNode(n, NodeID(id))
	}
}

// buildTopology builds the tree. Domains that cannot be part of the tree are left out, and their problem is recorded.
// The rest of the tree works without them.
func (c *Cluster) buildTopology() *Topology {
	t := &Topology{Gen: c.gen, Tiers: map[string]int{}, byName: map[string]*Domain{}}
	names := slices.Sorted(maps.Keys(c.HyperNodes))
	top := 0
	for _, name := range names {
		h := c.HyperNodes[name]
		d := &Domain{Name: name, Tier: h.Tier, Index: len(t.Domains), Reason: topologyv1alpha1.HyperNodeInTreeReason}
		if h.Problem != "" {
			d.Problem, d.Reason = h.Problem, topologyv1alpha1.HyperNodeBadSelectorReason
		}
		t.Domains = append(t.Domains, d)
		t.byName[name] = d
		top = max(top, h.Tier)
		if tier, named := t.Tiers[h.TierName]; h.TierName != "" && (!named || h.Tier < tier) {
			t.Tiers[h.TierName] = h.Tier
		}
	}
	t.Root = &Domain{Tier: top + 1, Index: len(t.Domains)}
	c.setDomainParents(t, names)
	c.removeCycles(t)
	t.Domains = append(t.Domains, t.Root)
	c.setDomainNodes(t)
	return t
}

// setDomainParents sets the parent of each domain. If several domains claim a domain as a member, it gets no parent,
// and the domains that claim it are not used.
func (c *Cluster) setDomainParents(t *Topology, names []string) {
	claims := map[string][]*Domain{}
	for _, name := range names {
		d := t.byName[name]
		for _, m := range c.HyperNodes[name].Members {
			if !m.HyperNode || slices.Contains(claims[m.Name], d) {
				continue
			}
			claims[m.Name] = append(claims[m.Name], d)
			if t.byName[m.Name] == nil {
				d.addMissing(fmt.Sprintf("hyperNode %s does not exist", m.Name))
			}
		}
	}
	for _, name := range names {
		parents := claims[name]
		if len(parents) == 1 {
			t.byName[name].Parent = parents[0]
			continue
		}
		for _, p := range parents {
			if p.Problem == "" {
				p.Problem = fmt.Sprintf("hyperNode %s is a member of %s, but it can have only one parent", name, joinDomainNames(parents))
				p.Reason = topologyv1alpha1.HyperNodeTwoParentsReason
			}
		}
	}
}

// removeCycles removes domains that are their own ancestors.
func (c *Cluster) removeCycles(t *Topology) {
	for _, d := range t.Domains {
		steps := 0
		for up := d.Parent; up != nil && steps <= len(t.Domains); up = up.Parent {
			steps++
			if up == d {
				d.Problem = fmt.Sprintf("hyperNode %s is both an ancestor and a descendant of hyperNode %s", d.Name, d.Parent.Name)
				d.Reason = topologyv1alpha1.HyperNodeCycleReason
				break
			}
		}
	}
	for _, d := range t.Domains {
		if d.Reason == topologyv1alpha1.HyperNodeCycleReason {
			d.Parent = nil
		}
	}
	// An unusable domain cannot be the parent of other domains either.
	for _, d := range t.Domains {
		if d.Parent != nil && !d.Parent.CanHoldGangs() {
			d.Parent = nil
		}
	}
	for _, d := range t.Domains {
		switch {
		case !d.CanHoldGangs():
			d.Parent = nil
		case d.Parent == nil:
			d.Parent = t.Root
			t.Root.Children = append(t.Root.Children, d)
		default:
			d.Parent.Children = append(d.Parent.Children, d)
		}
	}
}

// setDomainNodes sets the nodes of the domains. A node that is a member of several domains belongs to the lowest of
// them.
func (c *Cluster) setDomainNodes(t *Topology) {
	n := &c.Nodes
	t.lowest = make([]*Domain, n.Len())
	named := make([][]NodeID, len(t.Domains))
	for i, d := range t.Domains[:t.Root.Index] {
		named[i] = c.selectedNodes(d)
		for _, id := range named[i] {
			if low := t.lowest[id]; d.CanHoldGangs() && (low == nil || d.Tier < low.Tier) {
				t.lowest[id] = d
			}
		}
	}
	for i, d := range t.Domains[:t.Root.Index] {
		c.setOwnNodes(t, d, named[i])
	}
	for id := range n.Name {
		if n.Alive[id] && t.lowest[id] == nil {
			t.Root.Own = append(t.Root.Own, NodeID(id))
		}
	}
	t.Root.Own = c.sortByNodeName(t.Root.Own)
	c.gatherNodes(t.Root)
	t.Root.All = n.AppendSortedLive(nil)
	for i, d := range t.Domains {
		if !d.CanHoldGangs() {
			c.setPossibleNodes(t, d, named[i])
		}
	}
}

// setOwnNodes sets the nodes that belong to a domain itself, out of the nodes that its members select. It records a
// problem for each selected node that belongs to a domain elsewhere in the tree.
func (c *Cluster) setOwnNodes(t *Topology, d *Domain, selected []NodeID) {
	var elsewhere []string
	for _, id := range selected {
		low := t.lowest[id]
		switch {
		case low == d:
			d.Own = append(d.Own, id)
		case d.CanHoldGangs() && !low.IsInOrBelow(d):
			elsewhere = append(elsewhere, fmt.Sprintf("%s, which is in hyperNode %s", c.Nodes.Name[id], low.Name))
		}
	}
	d.recordMissingNodes("node ", elsewhere)
}

// setPossibleNodes sets All of a domain that cannot hold gangs. The result contains the nodes that the domain would
// have if it were usable.
func (c *Cluster) setPossibleNodes(t *Topology, d *Domain, selected []NodeID) {
	d.All = selected
	for _, m := range c.HyperNodes[d.Name].Members {
		if child := t.byName[m.Name]; m.HyperNode && child != nil {
			d.All = append(d.All, child.All...)
		}
	}
	d.All = slices.Compact(c.sortByNodeName(d.All))
}

// selectedNodes returns the live nodes that a domain's members select, sorted by name. It records the nodes that do
// not exist.
func (c *Cluster) selectedNodes(d *Domain) []NodeID {
	h := c.HyperNodes[d.Name]
	ids, missing := maps.Clone(h.matched), []string(nil)
	for _, m := range h.Members {
		if m.HyperNode || m.Name == "" {
			continue
		}
		if id, ok := c.Nodes.byName[m.Name]; ok && c.Nodes.Alive[id] {
			ids[id] = true
		} else {
			missing = append(missing, m.Name)
		}
	}
	d.recordMissingNodes("missing nodes: ", missing)
	return c.sortByNodeName(slices.Collect(maps.Keys(ids)))
}

// gatherNodes computes All and Leaves for a domain, after computing them for the domains below it.
func (c *Cluster) gatherNodes(d *Domain) {
	if len(d.Own) > 0 {
		d.Leaves = append(d.Leaves, d)
	}
	d.All = d.Own
	if len(d.Children) == 0 {
		return
	}
	all := slices.Clone(d.Own)
	for _, child := range d.Children {
		c.gatherNodes(child)
		all = append(all, child.All...)
		d.Leaves = append(d.Leaves, child.Leaves...)
	}
	d.All = c.sortByNodeName(all)
}

func (c *Cluster) sortByNodeName(ids []NodeID) []NodeID {
	slices.SortFunc(ids, func(a, b NodeID) int { return strings.Compare(c.Nodes.Name[a], c.Nodes.Name[b]) })
	return ids
}
