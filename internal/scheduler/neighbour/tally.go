package neighbour

import (
	"math"

	"github.com/vc-batch/vc/internal/model"
)

// tally counts pods, or adds up weights, by domain.
type tally struct {
	top   *topology
	among *eligible // nil: all live nodes
	here  []int32   // all of them
	gone  []int32   // the part that is leaving
	total int       // of here

	// For spread: eligible nodes by domain, how many domains have any, and the least
	// count of those that stay over such domains, with how many have it.
	nodes       []int32
	present     int
	least       int32
	leasts      int
	leastsKnown bool
}

func (t *tally) grow(n int) {
	for len(t.here) < n {
		t.here, t.gone, t.nodes = append(t.here, 0), append(t.gone, 0), append(t.nodes, 0)
	}
}

// at is the domain of a node as this tally counts, none where it does not.
func (t *tally) at(id model.NodeID) int32 {
	if t.among != nil && !t.among.nodes[id] {
		return none
	}
	return t.top.domain[id]
}

// add counts by pods on a node, leaving of them about to leave.
func (t *tally) add(id model.NodeID, by, leaving int32) {
	d := t.at(id)
	if d == none {
		return
	}
	before := t.here[d] - t.gone[d]
	t.here[d] += by
	t.gone[d] += leaving
	t.total += int(by)
	if t.among != nil {
		t.follow(d, before, t.here[d]-t.gone[d])
	}
}

// pull adds up the weight of pods on a node.
func (t *tally) pull(id model.NodeID, pods, weight int32) {
	if d := t.at(id); d != none {
		t.here[d] += pods * weight
		t.total += int(pods)
	}
}

// follow keeps the least in step with one domain's count.
func (t *tally) follow(d, before, after int32) {
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

// count is what a domain has; staying: without those that leave.
func (t *tally) count(d int32, staying bool) int32 {
	if staying {
		return t.here[d] - t.gone[d]
	}
	return t.here[d]
}

// minimum is the least count over the domains that count, math.MaxInt32 when
// there are none.
func (t *tally) minimum() int32 {
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

// enter counts a node as eligible, or no more.
func (t *tally) enter(id model.NodeID, by int32) {
	d := t.at(id)
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
