package model

import (
	"cmp"
	"fmt"
	"strings"

	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
)

// TopologySpec limits the distance between the pods of a gang or sub-group.
type TopologySpec struct {
	// Hard is true if the pods must wait when they cannot be placed within the limit. Otherwise, the limit is only a
	// preference.
	Hard bool
	// Tier is the highest allowed tier; nil if TierName names the tier, or if any tier is allowed.
	Tier     *int
	TierName string
}

// Domain is the whole cluster, or a HyperNode with its position in the tree.
type Domain struct {
	Name string // "" for the whole cluster
	Tier int
	// Index is the domain's position in Topology.Domains.
	Index    int
	Parent   *Domain // nil for the whole cluster and for domains outside the tree
	Children []*Domain
	// Own holds the nodes whose lowest domain is this one. All also includes the nodes of the domains below. Both
	// contain only live nodes and are sorted by name.
	Own, All []NodeID
	// Leaves holds the domains inside this one, possibly including itself, that have nodes of their own. The leaves
	// of a subtree are adjacent.
	Leaves []*Domain
	// Problem describes why the domain is not used. Lacks describes which of its members are not used. Both are shown
	// to users.
	Problem, Lacks string
	// Reason is the reason in the HyperNode's Ready condition.
	Reason string
}

// CanHoldGangs reports whether gangs may be placed inside the domain.
func (d *Domain) CanHoldGangs() bool { return d.Problem == "" }

// IsInOrBelow reports whether d is other, or is below it.
func (d *Domain) IsInOrBelow(other *Domain) bool {
	for ; d != nil; d = d.Parent {
		if d == other {
			return true
		}
	}
	return false
}

// Topology is the tree of HyperNodes. A Topology is replaced, never changed.
type Topology struct {
	// Gen is the generation at which the tree was built.
	Gen uint64
	// Domains is sorted by name and includes domains with problems. The whole cluster is last.
	Domains []*Domain
	// Root is the whole cluster. The nodes in Root.Own are not in any HyperNode.
	Root *Domain
	// Tiers maps tier names to tiers. If several tiers have the same name, the name means the lowest of them.
	Tiers map[string]int

	byName map[string]*Domain
	lowest []*Domain // by NodeID
}

// Find returns the domain with the given name.
func (t *Topology) Find(name string) *Domain { return t.byName[name] }

// LowestDomain returns the domain of the lowest tier that has the node as a direct member. If none exists, it returns
// the whole cluster.
func (t *Topology) LowestDomain(id NodeID) *Domain {
	if int(id) < len(t.lowest) && t.lowest[id] != nil {
		return t.lowest[id]
	}
	return t.Root
}

// CommonDomain returns the lowest domain that contains both domains.
func (t *Topology) CommonDomain(a, b *Domain) *Domain {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	for d := a; d != nil; d = d.Parent {
		if b.IsInOrBelow(d) {
			return d
		}
	}
	return t.Root
}

// LowestTier returns the lowest tier of all usable domains. It returns false if there is no usable domain.
func (t *Topology) LowestTier() (tier int, ok bool) {
	for _, d := range t.Domains {
		isUsable := d != t.Root && d.CanHoldGangs()
		if isUsable && (!ok || d.Tier < tier) {
			tier, ok = d.Tier, true
		}
	}
	return tier, ok
}

// nodeSeen is the state of a node when the tree was built.
type nodeSeen struct {
	name  string
	alive bool
	info  *NodeInfo
}

func (h *HyperNode) updateMatchedNode(n *Nodes, id NodeID) {
	if h.matched == nil {
		return
	}
	if n.Alive[id] {
		for i := range h.Members {
			if h.Members[i].selectsNode(n.Name[id], n.Info[id]) {
				h.matched[id] = true
				return
			}
		}
	}
	delete(h.matched, id)
}

func (d *Domain) addMissing(what string) {
	if d.Lacks != "" {
		d.Lacks += "; "
	}
	d.Lacks += what
	if d.Reason == topologyv1alpha1.HyperNodeInTreeReason {
		d.Reason = topologyv1alpha1.HyperNodeIncompleteReason
	}
}

func joinDomainNames(domains []*Domain) string {
	names := make([]string, len(domains))
	for i, d := range domains {
		names[i] = d.Name
	}
	return strings.Join(names, " and ")
}

// namesTold is the maximum number of missing nodes that a message lists by name.
const namesTold = 3

func (d *Domain) recordMissingNodes(prefix string, names []string) {
	if more := len(names) - namesTold; more > 0 {
		names = append(names[:namesTold:namesTold], fmt.Sprintf("%d more", more))
	}
	if len(names) > 0 {
		d.addMissing(prefix + strings.Join(names, ", "))
	}
}
