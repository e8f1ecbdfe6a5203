package hypernode

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/keys"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/test/propertytest"
)

// carriedOut returns the HyperNodes after all writes, or after the first n.
func carriedOut(there []topologyv1alpha1.HyperNode, w writes, n int) []topologyv1alpha1.HyperNode {
	there = slices.Clone(there)
	find := func(name string) int {
		return slices.IndexFunc(there, func(h topologyv1alpha1.HyperNode) bool { return h.Name == name })
	}
	for _, h := range w.create[:min(n, len(w.create))] {
		there = append(there, *h)
	}
	n = max(0, n-len(w.create))
	for _, h := range w.update[:min(n, len(w.update))] {
		there[find(h.Name)] = *h
	}
	n = max(0, n-len(w.update))
	for _, h := range w.remove[:min(n, len(w.remove))] {
		i := find(h.Name)
		there = slices.Delete(there, i, i+1)
	}
	return there
}

func (w writes) total() int { return len(w.create) + len(w.update) + len(w.remove) }

// drawn returns a line for each HyperNode, with the names of HyperNodes replaced by their values.
func drawn(there []topologyv1alpha1.HyperNode) []string {
	values := map[string]string{}
	for i := range there {
		values[there[i].Name] = there[i].Labels[there[i].Spec.TierName]
	}
	var lines []string
	for i := range there {
		h := &there[i]
		var members []string
		for _, m := range h.Spec.Members {
			name := m.Selector.ExactMatch.Name
			if m.Type == topologyv1alpha1.MemberTypeHyperNode {
				name = values[name]
			}
			members = append(members, name)
		}
		slices.Sort(members)
		lines = append(lines, fmt.Sprintf("%d %s=%s: %s", h.Spec.Tier, h.Spec.TierName, values[h.Name], strings.Join(members, " ")))
	}
	slices.Sort(lines)
	return lines
}

func found(texts ...string) []domain { return domainsByLabels(hall, ats(texts...)) }

func TestWhatIsFoundIsMade(t *testing.T) {
	t.Parallel()
	w := planWrites(sourceLabel, found("a r1 w1 h", "b r1 w1 h", "c r2 w1 h"), nil)
	want := []string{"1 rack=r1: a b", "1 rack=r2: c", "2 row=w1: r1 r2", "3 hall=h: w1"}
	there := carriedOut(nil, w, w.total())
	if diff := cmp.Diff(want, drawn(there)); diff != "" {
		t.Errorf("hyperNodes (-want +got):\n%s", diff)
	}
	for i := range there {
		h := &there[i]
		if h.Labels[keys.TopologySource] != "label" || !strings.HasPrefix(h.Name, fmt.Sprintf("hypernode-eth-tier%d-", h.Spec.Tier)) || len(h.Name) != len("hypernode-eth-tier1-xxxxx") {
			t.Errorf("hyperNode %s with labels %v", h.Name, h.Labels)
		}
		if errs := topologyv1alpha1.ValidateHyperNode(h); len(errs) > 0 {
			t.Error(errs.ToAggregate())
		}
	}
	if again := planWrites(sourceLabel, found("c r2 w1 h", "b r1 w1 h", "a r1 w1 h"), there); again.total() != 0 {
		t.Errorf("the same again is %d writes", again.total())
	}
}

func TestHyperNodesFollowTheNodes(t *testing.T) {
	t.Parallel()
	before := []string{"a r1 w1 h", "b r2 w1 h", "c r3 w2 h"}
	cases := map[string]struct {
		after []string
		want  string // number of writes: created, updated, removed
	}{
		"nothing changed":              {before, "+0 ~0 -0"},
		"a node came":                  {append(slices.Clone(before), "d r1 w1 h"), "+0 ~1 -0"},
		"a node went":                  {before[:2], "+0 ~1 -2"},
		"a node went to another rack":  {[]string{"a r1 w1 h", "b r1 w1 h", "c r3 w2 h"}, "+0 ~2 -1"},
		"a rack went to another row":   {[]string{"a r1 w1 h", "b r2 w2 h", "c r3 w2 h"}, "+0 ~2 -0"},
		"a rack came":                  {append(slices.Clone(before), "d r4 w1 h"), "+1 ~1 -0"},
		"all labels are gone":          {[]string{"a - - -"}, "+0 ~0 -6"},
		"a rack's name is given twice": {append(slices.Clone(before), "d r1 w2 h"), "+2 ~2 -1"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := planWrites(sourceLabel, found(before...), nil)
			there := carriedOut(nil, w, w.total())
			w = planWrites(sourceLabel, found(c.after...), there)
			if got := fmt.Sprintf("+%d ~%d -%d", len(w.create), len(w.update), len(w.remove)); got != c.want {
				t.Errorf("writes %s, want %s", got, c.want)
			}
		})
	}
}

func TestHyperNodesOfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	w := planWrites(sourceLabel, found("a r1 - -"), nil)
	name := w.create[0].Name
	theirs := topologyv1alpha1.HyperNode{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"rack": "r1"}}}
	ufm := topologyv1alpha1.HyperNode{ObjectMeta: metav1.ObjectMeta{Name: "u", Labels: map[string]string{keys.TopologySource: sourceUFM}}}
	w = planWrites(sourceLabel, found("a r1 - -"), []topologyv1alpha1.HyperNode{theirs, ufm})
	if w.total() != 1 || len(w.create) != 1 || w.create[0].Name == name {
		t.Errorf("writes %+v", w)
	}
	if again := planWrites(sourceLabel, found("a r1 - -"), append([]topologyv1alpha1.HyperNode{theirs, ufm}, *w.create[0])); again.total() != 0 {
		t.Errorf("the same again is %d writes", again.total())
	}
}

func TestHyperNodesThatVolcanoMadeKeepTheirNames(t *testing.T) {
	t.Parallel()
	volcano := topologyv1alpha1.HyperNode{ObjectMeta: metav1.ObjectMeta{Name: "hypernode-eth-tier1-x7k2p", Labels: map[string]string{keys.TopologySource: sourceLabel, "rack": "r1", "mine": "yes"}}}
	w := planWrites(sourceLabel, found("a r1 w1 -"), []topologyv1alpha1.HyperNode{volcano})
	if len(w.create) != 1 || len(w.update) != 1 || len(w.remove) != 0 || w.update[0].Name != volcano.Name || w.update[0].Labels["mine"] != "yes" {
		t.Fatalf("writes %+v", w)
	}
	if got := w.create[0].Spec.Members[0].Selector.ExactMatch.Name; got != volcano.Name {
		t.Errorf("the row holds %s", got)
	}
}

// TestACrashBetweenTwoWritesMakesNothingTwice verifies that, with any node labels and any number of crashes between
// writes, the final HyperNodes are the same as without a crash, and each write is made once.
func TestACrashBetweenTwoWritesMakesNothingTwice(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 10_000, func(t *rapid.T) {
		labelled := func() []node {
			nodes := make([]node, rapid.IntRange(0, 8).Draw(t, "nodes"))
			for i := range nodes {
				value := func(tier string, n int) string {
					return rapid.SampledFrom([]string{"-", tier + "1", tier + "2", tier + "3"}[:n+1]).Draw(t, tier)
				}
				nodes[i] = at(fmt.Sprintf("n%d %s %s %s", i, value("r", 3), value("w", 2), value("h", 2)))
			}
			return nodes
		}
		var there []topologyv1alpha1.HyperNode
		for range 3 {
			nodes := labelled()
			domains := domainsByLabels(hall, nodes)
			undisturbed := planWrites(sourceLabel, domains, nil)
			for turn := 0; ; turn++ {
				w := planWrites(sourceLabel, domains, there)
				if w.total() == 0 {
					break
				}
				if turn > 100 {
					t.Fatal("it never ends")
				}
				there = carriedOut(there, w, rapid.IntRange(1, w.total()).Draw(t, "writes before it dies"))
			}
			if diff := cmp.Diff(drawn(carriedOut(nil, undisturbed, undisturbed.total())), drawn(there)); diff != "" {
				t.Fatalf("undisturbed and now:\n%s", diff)
			}
			claimed := map[string]string{}
			for i := range there {
				for _, m := range there[i].Spec.Members {
					name := string(m.Type) + m.Selector.ExactMatch.Name
					if other := claimed[name]; other != "" {
						t.Fatalf("%s is in %s and %s", name, other, there[i].Name)
					}
					claimed[name] = there[i].Name
				}
			}
			for _, n := range nodes {
				if in := claimed["Node"+n.name] != ""; in != (n.labels["rack"] != "") {
					t.Fatalf("node %s with labels %v is in a hyperNode: %v", n.name, n.labels, in)
				}
			}
		}
	})
}
