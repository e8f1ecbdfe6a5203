package interpod

import (
	"math"

	"github.com/vc-batch/vc/internal/model"
)

// tally counts pods, or sums up weights, by domain.
type tally struct {
	top   *topology
	among *eligible // nil for all live nodes
	here  []int32   // count of all pods by domain
	gone  []int32   // the part of here that is leaving
	total int       // sum of here

	// For spread constraints: the number of eligible nodes by domain, the number of domains with eligible nodes, the
	// minimum number of staying pods over these domains, and the number of domains with this minimum.
	nodes       []int32
	present     int
	least       int32
	leasts      int
	leastsKnown bool
}

func (t *tally) growDomains(n int) {
	for len(t.here) < n {
		t.here, t.gone, t.nodes = append(t.here, 0), append(t.gone, 0), append(t.nodes, 0)
	}
}

// domainOf returns the domain of a node in this tally; none if pods on the node do not count.
func (t *tally) domainOf(id model.NodeID) int32 {
	if t.among != nil && !t.among.nodes[id] {
		return none
	}
	return t.top.domain[id]
}

// addPods adds pods on a node. by is the total number of pods; leaving is the number of leaving pods among them.
func (t *tally) addPods(id model.NodeID, by, leaving int32) {
	d := t.domainOf(id)
	if d == none {
		return
	}
	before := t.here[d] - t.gone[d]
	t.here[d] += by
	t.gone[d] += leaving
	t.total += int(by)
	if t.among != nil {
		t.updateMinimum(d, before, t.here[d]-t.gone[d])
	}
}

// addWeight adds the weight of pods on a node to the sum.
func (t *tally) addWeight(id model.NodeID, pods, weight int32) {
	if d := t.domainOf(id); d != none {
		t.here[d] += pods * weight
		t.total += int(pods)
	}
}

// updateMinimum updates the minimum after the count of one domain changed.
func (t *tally) updateMinimum(d, before, after int32) {
	switch {
	case !t.leastsKnown || t.nodes[d] == 0 || before == after:
	case after < t.least:
		t.least, t.leasts = after, 1
	default:
		if before == t.least {
			t.leasts--
		}
		if after == t.least {
			t.leasts++
		}
		t.leastsKnown = t.leasts > 0
	}
}

// countInDomain returns the number of pods in a domain. If staying is true, it excludes pods that are leaving.
func (t *tally) countInDomain(d int32, staying bool) int32 {
	if staying {
		return t.here[d] - t.gone[d]
	}
	return t.here[d]
}

// minimumCount returns the minimum count over the domains that have eligible nodes; math.MaxInt32 if there are no such
// domains.
func (t *tally) minimumCount() int32 {
	if t.leastsKnown {
		return t.least
	}
	t.least, t.leasts = math.MaxInt32, 0
	for d, n := range t.nodes {
		if n == 0 {
			continue
		}
		switch count := t.here[d] - t.gone[d]; {
		case count < t.least:
			t.least, t.leasts = count, 1
		case count == t.least:
			t.leasts++
		}
	}
	t.leastsKnown = t.leasts > 0
	return t.least
}

// countEligible adds a node to the eligible nodes of its domain (by 1) or removes it (by -1).
func (t *tally) countEligible(id model.NodeID, by int32) {
	d := t.domainOf(id)
	if d == none {
		return
	}
	if t.nodes[d] == 0 {
		t.present++
	}
	if t.nodes[d] += by; t.nodes[d] == 0 {
		t.present--
	}
	t.leastsKnown = false
}
