package neighbour

import (
	"github.com/vc-batch/vc/internal/model"
)

// none is the domain of a node that has no value for a topology key.
const none = int32(-1)

// topology numbers the values of one node label.
type topology struct {
	key    string
	domain []int32 // by model.NodeID; none: not alive, or without the label
	nodes  []int32 // live nodes by domain
	shared int     // domains of more than one node
	// version changes when a node's domain does.
	version uint64
	tallies []*tally

	ids    map[string]int32
	marks  []uint64 // by domain: the last look that saw it
	looked uint64
}

// domains is the number of domains that were ever seen.
func (t *topology) domains() int { return len(t.nodes) }

// single says that every domain is one node, as with host names.
func (t *topology) single() bool { return t.shared == 0 }

// put gives a node its domain; info nil: the node is gone.
func (t *topology) put(id model.NodeID, info *model.NodeInfo) {
	for len(t.domain) <= int(id) {
		t.domain = append(t.domain, none)
	}
	now := none
	if info != nil {
		if value, has := info.Labels[t.key]; has {
			now = t.id(value)
		}
	}
	was := t.domain[id]
	if was == now {
		return
	}
	t.version++
	if was != none {
		t.change(was, -1)
	}
	if t.domain[id] = now; now != none {
		t.change(now, 1)
	}
}

func (t *topology) change(domain, by int32) {
	if before := t.nodes[domain]; before > 1 {
		t.shared--
	}
	if t.nodes[domain] += by; t.nodes[domain] > 1 {
		t.shared++
	}
}

func (t *topology) id(value string) int32 {
	if id, known := t.ids[value]; known {
		return id
	}
	id := int32(len(t.nodes))
	t.ids[value] = id
	t.nodes = append(t.nodes, 0)
	for _, tally := range t.tallies {
		tally.grow(len(t.nodes))
	}
	return id
}

// among is how many domains some nodes are in, without those to skip.
func (t *topology) among(nodes []model.NodeID, skip []bool) (n int) {
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

// eligible are the nodes that count for a spread constraint: those with all of
// its pod's keys and, where the constraint says so, that the pod's affinity and
// tolerations allow.
type eligible struct {
	keys             []*topology
	shape            *model.Shape
	affinity, taints bool
	nodes            []bool // by model.NodeID
}
