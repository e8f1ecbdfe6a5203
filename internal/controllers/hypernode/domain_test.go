package hypernode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hall is a network of racks, which are in rows, which are in halls.
var hall = topology{name: "eth", labels: []string{"rack", "row", "hall"}}

// at returns a node from text: "name rack row hall", with "-" for a missing label.
func at(text string) node {
	words := strings.Fields(text)
	n := node{name: words[0], labels: map[string]string{}}
	for i, value := range words[1:] {
		if value != "-" {
			n.labels[hall.labels[i]] = value
		}
	}
	return n
}

func ats(texts ...string) []node {
	nodes := make([]node, len(texts))
	for i, text := range texts {
		nodes[i] = at(text)
	}
	return nodes
}

// lines returns a line for each domain.
func lines(domains []domain) []string {
	told := make([]string, len(domains))
	for i, d := range domains {
		told[i] = fmt.Sprintf("%d %s: %s", d.tier, d.id, strings.Join(d.members, " "))
	}
	return told
}

func TestLabelsOfNodesMakeDomains(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		nodes, want []string
	}{
		"racks in rows in a hall": {
			nodes: []string{"a r1 w1 h", "b r1 w1 h", "c r2 w1 h", "d r3 w2 h"},
			want:  []string{"1 r1/w1/h: a b", "1 r2/w1/h: c", "1 r3/w2/h: d", "2 w1/h: r1/w1/h r2/w1/h", "2 w2/h: r3/w2/h", "3 h: w1/h w2/h"},
		},
		"a node without labels is nowhere":                 {nodes: []string{"a - - -"}},
		"a node without a rack is nowhere":                 {nodes: []string{"a - w1 h"}},
		"a rack without a row is in no hall":               {nodes: []string{"a r1 - h"}, want: []string{"1 r1: a"}},
		"a node that lacks the row is in that of its rack": {nodes: []string{"a r1 - -", "b r1 w1 h"}, want: []string{"1 r1/w1/h: a b", "2 w1/h: r1/w1/h", "3 h: w1/h"}},
		"what lacks is known from rack and row together": {
			nodes: []string{"a r1 - -", "b r1 w1 -", "c r2 w1 h"},
			want:  []string{"1 r1/w1/h: a b", "1 r2/w1/h: c", "2 w1/h: r1/w1/h r2/w1/h", "3 h: w1/h"},
		},
		"a rack's own word counts where its row is in two halls": {
			nodes: []string{"a r1 w1 h1", "b r1 w1 -", "c r2 w1 h2"},
			want:  []string{"1 r1/w1/h1: a b", "1 r2/w1/h2: c", "2 w1/h1: r1/w1/h1", "2 w1/h2: r2/w1/h2", "3 h1: w1/h1", "3 h2: w1/h2"},
		},
		"rack 1 of one row is not rack 1 of another": {
			nodes: []string{"a r1 w1 h", "b r1 w2 h"},
			want:  []string{"1 r1/w1/h: a", "1 r1/w2/h: b", "2 w1/h: r1/w1/h", "2 w2/h: r1/w2/h", "3 h: w1/h w2/h"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := append([]string{}, c.want...)
			if diff := cmp.Diff(want, lines(domainsByLabels(hall, ats(c.nodes...)))); diff != "" {
				t.Errorf("domains (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPortsMakeDomains(t *testing.T) {
	t.Parallel()
	host := func(name, leaf string) port { return port{"Computer IB Port", name, leaf} }
	link := func(a, b string) port { return port{"Switch IB Port", a, b} }
	cases := map[string]struct {
		ports []port
		nodes []string
		want  []string
	}{
		"hosts at a leaf":                      {ports: []port{host("a", "l1"), host("b", "l1"), host("c", "l2")}, nodes: []string{"a", "b", "c"}, want: []string{"1 l1: a b", "1 l2: c"}},
		"hosts that are no nodes are left out": {ports: []port{host("a", "l1"), host("ufm", "l1")}, nodes: []string{"a"}, want: []string{"1 l1: a"}},
		"hosts with several adapters are behind a group of leaves": {
			ports: []port{host("a", "l1"), host("a", "l2"), host("b", "l2"), host("b", "l1"), host("c", "l3")}, nodes: []string{"a", "b", "c"},
			want: []string{"1 l1: a b", "1 l3: c"}},
		"leaves below one spine": {
			ports: []port{host("a", "l1"), host("b", "l2"), host("c", "l3"), link("l1", "s1"), link("s1", "l2"), link("l1", "a")}, nodes: []string{"a", "b", "c"},
			want: []string{"1 l1: a", "1 l2: b", "1 l3: c", "2 l1: l1 l2"}},
		"a leaf alone below its spine needs no tier 2": {ports: []port{host("a", "l1"), link("l1", "s1")}, nodes: []string{"a"}, want: []string{"1 l1: a"}},
		"cables that end nowhere are nothing":          {ports: []port{host("a", ""), link("l1", "")}, nodes: []string{"a"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(append([]string{}, c.want...), lines(domainsByPorts(c.ports, ats(c.nodes...)))); diff != "" {
				t.Errorf("domains (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPathsAgreeIfOneContinuesTheOthers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "r1": "r1", "r1 r1/h1": "r1/h1", "r1/h1 r1": "r1/h1", "r1 r2": "", "r1/h1 r1/h2": "", "r1 r10": "", "r1 r1/h1 r2": "",
	} {
		paths := map[string]bool{}
		for _, path := range strings.Fields(text) {
			paths[path] = true
		}
		if got := agreedPath(paths); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
