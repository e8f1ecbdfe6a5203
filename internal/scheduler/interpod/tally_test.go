package interpod

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/propertytest"
)

// TestTheMinimumOfDomainsFollowsEveryChange changes the pods, labels and eligible nodes of a spread constraint, and
// compares the minimum and the number of domains with a count of all nodes.
func TestTheMinimumOfDomainsFollowsEveryChange(t *testing.T) {
	const nodes = 5
	propertytest.Check(t, 2000, func(t *rapid.T) {
		top := &topology{key: "zone", ids: map[string]int32{}}
		among := &eligible{nodes: make([]bool, nodes)}
		spread := &tally{top: top, among: among}
		top.tallies = append(top.tallies, spread)
		var pods, leaving [nodes]int32
		for id := range model.NodeID(nodes) {
			top.updateNode(id, nil)
		}
		// change changes a node without its pods, as at the begin of a cycle.
		change := func(id model.NodeID, f func()) {
			spread.addPods(id, -pods[id], -leaving[id])
			spread.countEligible(id, -1)
			f()
			spread.countEligible(id, 1)
			spread.addPods(id, pods[id], leaving[id])
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			id := model.NodeID(rapid.IntRange(0, nodes-1).Draw(t, "node"))
			switch rapid.IntRange(0, 3).Draw(t, "change") {
			case 0:
				change(id, func() {
					var info *model.NodeInfo
					if rapid.IntRange(0, 4).Draw(t, "lives") > 0 {
						info = &model.NodeInfo{Labels: map[string]string{"zone": fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "zone"))}}
					}
					top.updateNode(id, info)
				})
			case 1:
				change(id, func() { among.nodes[id] = rapid.Bool().Draw(t, "eligible") })
			default:
				gone := int32(rapid.IntRange(0, 1).Draw(t, "leaves"))
				pods[id], leaving[id] = pods[id]+1, leaving[id]+gone
				spread.addPods(id, 1, gone)
			}
			staying := map[int32]int32{}
			for id := range model.NodeID(nodes) {
				if d := top.domain[id]; d != none && among.nodes[id] {
					staying[d] += pods[id] - leaving[id]
				}
			}
			least := int32(math.MaxInt32)
			for _, n := range staying {
				least = min(least, n)
			}
			if got := spread.minimumCount(); got != least || spread.present != len(staying) {
				t.Fatalf("the minimum of %d domains is %d, want %d of %v", spread.present, got, least, staying)
			}
		}
	})
}

func TestDomainsHaveOneNodeEachUntilNodesShareAValue(t *testing.T) {
	t.Parallel()
	top := &topology{key: "host", ids: map[string]int32{}}
	label := func(id model.NodeID, value string) {
		top.updateNode(id, &model.NodeInfo{Labels: map[string]string{"host": value}})
	}
	label(0, "a")
	label(1, "b")
	top.updateNode(2, &model.NodeInfo{})
	if !top.hasSingletonDomains() || top.domain[2] != none {
		t.Fatalf("domains %v of sizes %v, want two of one node each", top.domain, top.nodes)
	}
	before := top.version
	label(1, "a")
	if top.hasSingletonDomains() || top.version == before {
		t.Errorf("domains %v of sizes %v, want one of two nodes, and another version", top.domain, top.nodes)
	}
	if n := top.countDistinct([]model.NodeID{0, 1}, []bool{false, false}); n != 1 {
		t.Errorf("%d distinct domains of two nodes with one value, want 1", n)
	}
	top.updateNode(0, nil)
	if !top.hasSingletonDomains() {
		t.Errorf("sizes %v, want one node after the other was deleted", top.nodes)
	}
}
