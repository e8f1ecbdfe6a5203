package model

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/test/propertytest"
)

// hyper parses a HyperNode from words: its name and tier, then its members. /x/ is a pattern, k=v a label, ^x the
// HyperNode x; any other word is a node.
func hyper(name string, tier int, members ...string) HyperNodeSet {
	h := HyperNode{Name: name, Tier: tier}
	for _, m := range members {
		var member HyperMember
		switch {
		case strings.HasPrefix(m, "/"):
			member.Pattern = regexp.MustCompile(strings.Trim(m, "/"))
		case strings.Contains(m, "="):
			member.Labels, _ = labels.Parse(m)
		case strings.HasPrefix(m, "^"):
			member.HyperNode, member.Name = true, m[1:]
		default:
			member.Name = m
		}
		h.Members = append(h.Members, member)
	}
	return HyperNodeSet{h}
}

// tree prints a topology, one domain per line.
func tree(c *Cluster) []string {
	t := c.Topology()
	if t == nil {
		return nil
	}
	var out []string
	for _, d := range t.Domains {
		name, parent := d.Name, "-"
		if d == t.Root {
			name = "cluster"
		} else if d.Parent == t.Root {
			parent = "cluster"
		} else if d.Parent != nil {
			parent = d.Parent.Name
		}
		nodes := make([]string, len(d.All))
		for i, id := range d.All {
			nodes[i] = c.Nodes.Name[id]
		}
		line := fmt.Sprintf("%s@%d in %s: %s", name, d.Tier, parent, strings.Join(nodes, " "))
		if d.Problem != "" {
			line += " | " + d.Reason + ": " + d.Problem
		}
		if d.Lacks != "" {
			line += " | lacks: " + d.Lacks
		}
		out = append(out, line)
	}
	return out
}

func TestTopology(t *testing.T) {
	nodes := []Delta{}
	for _, name := range []string{"a0", "a1", "b0", "b1", "c0"} {
		nodes = append(nodes, NodeSet{Name: name, Labels: map[string]string{"rack": name[:1]}})
	}
	cases := map[string]struct {
		deltas []Delta
		want   []string
	}{
		"without HyperNodes there is no tree": {},
		"members are selected by name, pattern and label": {
			deltas: []Delta{hyper("s0", 1, "a0", "a1"), hyper("s1", 1, "/^b/"), hyper("s2", 1, "rack=c"), hyper("top", 2, "^s0", "^s1")},
			want: []string{
				"s0@1 in top: a0 a1", "s1@1 in top: b0 b1", "s2@1 in cluster: c0",
				"top@2 in cluster: a0 a1 b0 b1", "cluster@3 in -: a0 a1 b0 b1 c0",
			},
		},
		"who claims another's member is not used, the member and the rest are": {
			deltas: []Delta{hyper("s0", 1, "a0"), hyper("s1", 1, "b0"), hyper("p", 2, "^s0"), hyper("q", 2, "^s0", "^s1"), hyper("r", 2, "c0")},
			want: []string{
				"p@2 in -: a0 | TwoParents: hyperNode s0 is a member of p and q, but it can have only one parent",
				"q@2 in -: a0 b0 | TwoParents: hyperNode s0 is a member of p and q, but it can have only one parent",
				"r@2 in cluster: c0", "s0@1 in cluster: a0", "s1@1 in cluster: b0", "cluster@3 in -: a0 a1 b0 b1 c0",
			},
		},
		"a circle is not used, what hangs on it is": {
			deltas: []Delta{hyper("x", 2, "^y", "^s0"), hyper("y", 3, "^x", "b0"), hyper("s0", 1, "a0")},
			want: []string{
				"s0@1 in cluster: a0", "x@2 in -: a0 | Cycle: hyperNode x is both an ancestor and a descendant of hyperNode y",
				"y@3 in -: a0 b0 | Cycle: hyperNode y is both an ancestor and a descendant of hyperNode x", "cluster@4 in -: a0 a1 b0 b1 c0",
			},
		},
		"a member that is not there is told, and the others count": {
			deltas: []Delta{hyper("s0", 1, "a0", "z0", "^none")},
			want:   []string{"s0@1 in cluster: a0 | lacks: hyperNode none does not exist; missing nodes: z0", "cluster@2 in -: a0 a1 b0 b1 c0"},
		},
		"a node that two name is in the lower one": {
			deltas: []Delta{hyper("s0", 1, "a0", "a1"), hyper("s1", 1, "a1", "b0"), hyper("top", 2, "^s0", "^s1", "a0", "c0")},
			want: []string{
				"s0@1 in top: a0 a1", "s1@1 in top: b0 | lacks: node a1, which is in hyperNode s0",
				"top@2 in cluster: a0 a1 b0 c0", "cluster@3 in -: a0 a1 b0 b1 c0",
			},
		},
		"nodes that come, go and change labels move": {
			deltas: []Delta{
				hyper("s0", 1, "/^a/"), hyper("s1", 1, "rack=b"),
				NodeSet{Name: "a2"}, NodeGone{Name: "a0"}, NodeSet{Name: "c0", Labels: map[string]string{"rack": "b"}}, NodeSet{Name: "b0"},
			},
			want: []string{"s0@1 in cluster: a1 a2", "s1@1 in cluster: b1 c0", "cluster@2 in -: a1 a2 b0 b1 c0"},
		},
		"a HyperNode that is gone leaves its members": {
			deltas: []Delta{hyper("s0", 1, "a0"), hyper("top", 2, "^s0"), HyperNodeGone{Name: "top"}},
			want:   []string{"s0@1 in cluster: a0", "cluster@2 in -: a0 a1 b0 b1 c0"},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			c := New()
			c.Apply(nodes...)
			for _, d := range test.deltas {
				c.Apply(d)
				c.Topology() // after each change, so that the existing tree is updated
			}
			if diff := cmp.Diff(test.want, tree(c)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			fresh := New()
			fresh.Apply(slices.Concat(nodes, test.deltas)...)
			if diff := cmp.Diff(test.want, tree(fresh)); diff != "" {
				t.Errorf("made at once (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTopologyIsATree changes HyperNodes and nodes at random and checks that the updated tree equals a newly built
// one, that every usable domain leads up to the cluster, and that no domain has two parents.
func TestTopologyIsATree(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		c := New()
		last := map[string]Delta{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			var d Delta
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				name := rapid.SampledFrom([]string{"a0", "a1", "b0"}).Draw(t, "node")
				d = NodeSet{Name: name, Labels: map[string]string{"rack": rapid.SampledFrom([]string{"a", "b"}).Draw(t, "rack")}}
				last["node "+name] = d
			case 1:
				name := rapid.SampledFrom([]string{"a0", "a1", "b0"}).Draw(t, "node")
				d = NodeGone{Name: name}
				delete(last, "node "+name)
			case 2:
				name := rapid.SampledFrom([]string{"s", "t", "u", "v"}).Draw(t, "hyperNode")
				d = HyperNodeGone{Name: name}
				delete(last, "hyper "+name)
			default:
				name := rapid.SampledFrom([]string{"s", "t", "u", "v"}).Draw(t, "hyperNode")
				members := rapid.SliceOfN(rapid.SampledFrom([]string{"a0", "/^a/", "rack=b", "^s", "^t", "^u", "^v"}), 0, 3).Draw(t, "members")
				d = hyper(name, rapid.IntRange(0, 3).Draw(t, "tier"), members...)
				last["hyper "+name] = d
			}
			c.Apply(d)
			if rapid.Bool().Draw(t, "look") {
				c.Topology()
			}
		}
		fresh := New()
		var all []string
		for key := range last {
			all = append(all, key)
		}
		slices.Sort(all)
		for _, key := range all {
			fresh.Apply(last[key])
		}
		if diff := cmp.Diff(tree(fresh), tree(c)); diff != "" {
			t.Fatalf("brought up to date it differs (-fresh +old):\n%s", diff)
		}
		top := c.Topology()
		if top == nil {
			return
		}
		for _, d := range top.Domains {
			if d.CanHoldGangs() && !d.IsInOrBelow(top.Root) {
				t.Fatalf("%s does not lead up to the cluster", d.Name)
			}
			for _, id := range d.All {
				if !c.Nodes.Alive[id] {
					t.Fatalf("%s holds a dead node", d.Name)
				}
			}
		}
	})
}
