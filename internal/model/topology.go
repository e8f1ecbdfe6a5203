package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
)

// TopologySpec is how near to each other a gang or a sub-group wants its pods.
type TopologySpec struct {
	// Hard: rather wait than run farther apart. Else it is a wish.
	Hard bool
	// Tier is the highest allowed; nil: TierName says it, or any.
	Tier     *int
	TierName string
}

// Domain is a HyperNode's place in the tree, or the whole cluster.
type Domain struct {
	Name string // "" = the whole cluster
	Tier int
	// Index of it in Topology.Domains.
	Index    int
	Parent   *Domain // nil: it is the whole cluster, or not in the tree
	Children []*Domain
	// Own are the nodes of which it is the lowest domain, All those below it too: live ones, by name.
	Own, All []NodeID
	// Leaves are the domains in it, itself included, that have nodes of their own, one subtree after another.
	Leaves []*Domain
	// Problem says why it is not used, Lacks what of it is not, for people.
	Problem, Lacks string
	// Reason is the reason of its Ready condition.
	Reason string
}

// Usable says whether gangs may be kept inside it.
func (d *Domain) Usable() bool { return d.Problem == "" }

// Inside says whether it is another domain or below it.
func (d *Domain) Inside(other *Domain) bool {
	for ; d != nil; d = d.Parent {
		if d == other {
			return true
		}
	}
	return false
}

// Topology is the tree of HyperNodes. It is replaced, never changed.
type Topology struct {
	// Gen is the generation at which it was made.
	Gen uint64
	// Domains by name, those with problems included; the whole cluster is last.
	Domains []*Domain
	// Root is the whole cluster. Its own nodes are those in no HyperNode.
	Root *Domain
	// Tiers by name, and the names that several tiers have: they mean the lowest.
	Tiers map[string]int

	byName map[string]*Domain
	lowest []*Domain // by NodeID
}

// Find returns a domain by name.
func (t *Topology) Find(name string) *Domain { return t.byName[name] }

// Lowest is the domain of least tier that a node is a direct member of; the
// whole cluster when it is in none.
func (t *Topology) Lowest(id NodeID) *Domain {
	if int(id) < len(t.lowest) && t.lowest[id] != nil {
		return t.lowest[id]
	}
	return t.Root
}

// Common is the lowest domain that both are inside.
func (t *Topology) Common(a, b *Domain) *Domain {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	for d := a; d != nil; d = d.Parent {
		if b.Inside(d) {
			return d
		}
	}
	return t.Root
}

// LowestTier is the least tier that a usable domain has, false when there is none.
func (t *Topology) LowestTier() (tier int, ok bool) {
	for _, d := range t.Domains {
		if d != t.Root && d.Usable() && (!ok || d.Tier < tier) {
			tier, ok = d.Tier, true
		}
	}
	return tier, ok
}

// Topology is the tree of the HyperNodes as they are now; nil when there are none.
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

// matchMembers brings up to date which nodes patterns and labels select, and says
// whether a node came, went or was relabeled.
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
		if now.name == old.name && now.alive && old.alive && maps.Equal(old.info.Labels, now.info.Labels) {
			return
		}
		moved = true
		if fresh {
			return
		}
		for _, h := range c.HyperNodes {
			h.match(n, id)
		}
	}
	if fresh || !c.NodesSince(c.topologyNodes, look) {
		for id := range n.Name {
			look(NodeID(id))
		}
	}
	for _, h := range c.HyperNodes {
		if h.matched == nil {
			h.matched = map[NodeID]bool{}
			for id := range n.Name {
				h.match(n, NodeID(id))
			}
		} else if fresh && moved {
			for id := range n.Name {
				h.match(n, NodeID(id))
			}
		}
	}
	return moved
}

// nodeSeen is what the tree was made of.
type nodeSeen struct {
	name  string
	alive bool
	info  *NodeInfo
}

func (h *HyperNode) match(n *Nodes, id NodeID) {
	if h.matched == nil {
		return
	}
	if n.Alive[id] {
		for i := range h.Members {
			if h.Members[i].selects(n.Name[id], n.Info[id]) {
				h.matched[id] = true
				return
			}
		}
	}
	delete(h.matched, id)
}

// buildTopology makes the tree. What cannot be in it is left out, and says why:
// the rest is as good as without it.
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
	c.linkDomains(t, names)
	c.cutCycles(t)
	t.Domains = append(t.Domains, t.Root)
	c.fillDomains(t)
	return t
}

// linkDomains gives every domain its parent. One that several claim has none, and
// those that claim it are not used.
func (c *Cluster) linkDomains(t *Topology, names []string) {
	claims := map[string][]*Domain{}
	for _, name := range names {
		d := t.byName[name]
		for _, m := range c.HyperNodes[name].Members {
			if !m.HyperNode || slices.Contains(claims[m.Name], d) {
				continue
			}
			claims[m.Name] = append(claims[m.Name], d)
			if t.byName[m.Name] == nil {
				d.lacks(fmt.Sprintf("there is no hyperNode %s", m.Name))
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
				p.Problem = fmt.Sprintf("hyperNode %s is a member of %s: it can be in one only", name, joined(parents))
				p.Reason = topologyv1alpha1.HyperNodeTwoParentsReason
			}
		}
	}
}

func (d *Domain) lacks(what string) {
	if d.Lacks != "" {
		d.Lacks += "; "
	}
	d.Lacks += what
	if d.Reason == topologyv1alpha1.HyperNodeInTreeReason {
		d.Reason = topologyv1alpha1.HyperNodeIncompleteReason
	}
}

func joined(domains []*Domain) string {
	names := make([]string, len(domains))
	for i, d := range domains {
		names[i] = d.Name
	}
	return strings.Join(names, " and ")
}

// cutCycles takes the domains out that are above themselves.
func (c *Cluster) cutCycles(t *Topology) {
	for _, d := range t.Domains {
		steps := 0
		for up := d.Parent; up != nil && steps <= len(t.Domains); up = up.Parent {
			steps++
			if up == d {
				d.Problem = fmt.Sprintf("hyperNode %s is above and below hyperNode %s", d.Name, d.Parent.Name)
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
	// A domain that is not used is no link between others either.
	for _, d := range t.Domains {
		if d.Parent != nil && !d.Parent.Usable() {
			d.Parent = nil
		}
	}
	for _, d := range t.Domains {
		switch {
		case !d.Usable():
			d.Parent = nil
		case d.Parent == nil:
			d.Parent = t.Root
			t.Root.Children = append(t.Root.Children, d)
		default:
			d.Parent.Children = append(d.Parent.Children, d)
		}
	}
}

// fillDomains gives the domains their nodes. A node that several name is in the
// lowest of them.
func (c *Cluster) fillDomains(t *Topology) {
	n := &c.Nodes
	t.lowest = make([]*Domain, n.Len())
	named := make([][]NodeID, len(t.Domains))
	for i, d := range t.Domains[:t.Root.Index] {
		named[i] = c.namedNodes(d)
		for _, id := range named[i] {
			if low := t.lowest[id]; d.Usable() && (low == nil || d.Tier < low.Tier) {
				t.lowest[id] = d
			}
		}
	}
	for i, d := range t.Domains[:t.Root.Index] {
		var elsewhere []string
		for _, id := range named[i] {
			if low := t.lowest[id]; low == d {
				d.Own = append(d.Own, id)
			} else if d.Usable() && !low.Inside(d) {
				elsewhere = append(elsewhere, fmt.Sprintf("%s, which is in hyperNode %s", n.Name[id], low.Name))
			}
		}
		d.lackNodes("node ", elsewhere)
	}
	for id := range n.Name {
		if n.Alive[id] && t.lowest[id] == nil {
			t.Root.Own = append(t.Root.Own, NodeID(id))
		}
	}
	t.Root.Own = c.byNodeName(t.Root.Own)
	c.gather(t.Root)
	t.Root.All = n.Order(nil)
	for i, d := range t.Domains {
		if !d.Usable() { // what it would have
			d.All = named[i]
			for _, m := range c.HyperNodes[d.Name].Members {
				if child := t.byName[m.Name]; m.HyperNode && child != nil {
					d.All = append(d.All, child.All...)
				}
			}
			d.All = slices.Compact(c.byNodeName(d.All))
		}
	}
}

// namedNodes are the live nodes that a domain's members name, by name.
func (c *Cluster) namedNodes(d *Domain) []NodeID {
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
	d.lackNodes("there is no node ", missing)
	return c.byNodeName(slices.Collect(maps.Keys(ids)))
}

// namesTold is how many nodes that a domain lacks are told by name.
const namesTold = 3

func (d *Domain) lackNodes(prefix string, names []string) {
	if more := len(names) - namesTold; more > 0 {
		names = append(names[:namesTold:namesTold], fmt.Sprintf("%d more", more))
	}
	if len(names) > 0 {
		d.lacks(prefix + strings.Join(names, ", "))
	}
}

// gather computes All and Leaves from the bottom up.
func (c *Cluster) gather(d *Domain) {
	if len(d.Own) > 0 {
		d.Leaves = append(d.Leaves, d)
	}
	d.All = d.Own
	if len(d.Children) == 0 {
		return
	}
	all := slices.Clone(d.Own)
	for _, child := range d.Children {
		c.gather(child)
		all = append(all, child.All...)
		d.Leaves = append(d.Leaves, child.Leaves...)
	}
	d.All = c.byNodeName(all)
}

func (c *Cluster) byNodeName(ids []NodeID) []NodeID {
	slices.SortFunc(ids, func(a, b NodeID) int { return strings.Compare(c.Nodes.Name[a], c.Nodes.Name[b]) })
	return ids
}
