package interpod

import "github.com/vc-batch/vc/internal/model"

// none is the domain of a node that has no value for a topology key.
const none = int32(-1)

// topology numbers the values of a node label. The nodes with the same value form a domain.
type topology struct {
	key    string
	domain []int32 // by model.NodeID; none if the node is not alive or lacks the label
	nodes  []int32 // number of live nodes, by domain
	shared int     // number of domains with more than one node
	// version changes whenever the domain of a node changes.
	version uint64
	tallies []*tally

	ids    map[string]int32
	marks  []uint64 // by domain: the last call of countDistinct that visited the domain
	looked uint64
}

// domainCount returns the number of domains seen so far, including empty ones.
func (t *topology) domainCount() int { return len(t.nodes) }

// hasSingletonDomains reports whether every domain has at most one node, as is the case for host names.
func (t *topology) hasSingletonDomains() bool { return t.shared == 0 }

// updateNode updates the domain of a node. A nil info means that the node was deleted.
func (t *topology) updateNode(id model.NodeID, info *model.NodeInfo) {
	for len(t.domain) <= int(id) {
		t.domain = append(t.domain, none)
	}
	now := none
	if info != nil {
		if value, has := info.Labels[t.key]; has {
			now = t.domainID(value)
		}
	}
	was := t.domain[id]
	if was == now {
		return
	}
	t.version++
	if was != none {
		t.changeNodeCount(was, -1)
	}
	if t.domain[id] = now; now != none {
		t.changeNodeCount(now, 1)
	}
}

func (t *topology) changeNodeCount(domain, by int32) {
	if before := t.nodes[domain]; before > 1 {
		t.shared--
	}
	if t.nodes[domain] += by; t.nodes[domain] > 1 {
		t.shared++
	}
}

func (t *topology) domainID(value string) int32 {
	if id, known := t.ids[value]; known {
		return id
	}
	id := int32(len(t.nodes))
	t.ids[value] = id
	t.nodes = append(t.nodes, 0)
	for _, tally := range t.tallies {
		tally.growDomains(len(t.nodes))
	}
	return id
}

// countDistinct returns the number of distinct domains of some nodes, ignoring the nodes marked in skip.
func (t *topology) countDistinct(nodes []model.NodeID, skip []bool) (n int) {
	for len(t.marks) < len(t.nodes) {
		t.marks = append(t.marks, 0)
	}
	t.looked++
	for i, id := range nodes {
		if skip[i] {
			continue
		}
		if d := t.domain[id]; t.marks[d] != t.looked {
			t.marks[d] = t.looked
			n++
		}
	}
	return n
}

// eligible is the set of nodes that count for a spread constraint. These nodes have the keys of all constraints that
// are equally strict and, if the constraint requires it, are permitted by the pod's affinity and tolerations.
type eligible struct {
	keys             []*topology
	shape            *model.Shape
	affinity, taints bool
	nodes            []bool // by model.NodeID
}
