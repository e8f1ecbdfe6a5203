package hypernode

import (
	"maps"
	"slices"
	"strings"
)

// node holds the name and labels of a Node.
type node struct {
	name   string
	labels map[string]string
}

// domain is a set of nodes that a source found to be close to each other.
type domain struct {
	kind     string // type of network; part of the HyperNode's name
	tier     int
	tierName string
	// id distinguishes domains of the same kind and tier.
	id string
	// label is a label of the HyperNode; "" for none. If no other domain has the same value, an existing HyperNode
	// with this label and value represents this domain.
	label, value string
	sole         bool // true if no other domain of this kind and tier has the same label and value
	// members holds the sorted names of the nodes (in tier 1), or the sorted ids of domains one tier below.
	members []string
}

// domainsByLabels returns the domains of a topology, lowest tier first.
//
// A node that lacks the label of a tier does not belong to any domain of that tier or of a higher one. Nodes with the
// same value belong to the same domain unless their outer domains differ. For example, rack 1 in hall A is not the same
// as rack 1 in hall B.
func domainsByLabels(t topology, nodes []node) []domain {
	chains := make([][]string, len(nodes))
	for i := range nodes {
		chains[i] = labelChain(t, nodes[i].labels)
	}
	around := findSurroundings(chains)
	found := make([]map[string]map[string]bool, len(t.labels)) // members by tier and path
	for i := range found {
		found[i] = map[string]map[string]bool{}
	}
	for i := range nodes {
		member := nodes[i].name
		whole := around.completeChain(chains[i])
		for tier := range whole {
			path := joinDomainPath(whole[tier:])
			if found[tier][path] == nil {
				found[tier][path] = map[string]bool{}
			}
			found[tier][path][member] = true
			member = path
		}
	}
	var domains []domain
	for tier, paths := range found {
		same := map[string]int{}
		for path := range paths {
			same[innermostValue(path)]++
		}
		for _, path := range slices.Sorted(maps.Keys(paths)) {
			domains = append(domains, domain{
				kind: t.name, tier: tier + 1, tierName: t.labels[tier], id: path,
				label: t.labels[tier], value: innermostValue(path), sole: same[innermostValue(path)] == 1,
				members: slices.Sorted(maps.Keys(paths[path])),
			})
		}
	}
	return domains
}

// labelChain returns the values of a node's labels from tier 1 outward, up to the first missing label.
func labelChain(t topology, labels map[string]string) []string {
	var values []string
	for _, label := range t.labels {
		value := labels[label]
		if value == "" {
			break
		}
		values = append(values, value)
	}
	return values
}

// surroundings holds, for each tier and value, the outward paths of the nodes that have the value.
type surroundings []map[string]map[string]bool

func findSurroundings(chains [][]string) surroundings {
	var s surroundings
	for _, c := range chains {
		for tier := range c {
			if len(s) == tier {
				s = append(s, map[string]map[string]bool{})
			}
			if s[tier][c[tier]] == nil {
				s[tier][c[tier]] = map[string]bool{}
			}
			s[tier][c[tier]][joinDomainPath(c[tier+1:])] = true
		}
	}
	return s
}

// completeChain extends a chain that ends early if all other chains that share one of its values continue in the same
// way. For example, a node without a label for its hall is assumed to be in the same hall as the other nodes in its
// rack.
func (s surroundings) completeChain(c []string) []string {
	for tier := 0; tier < len(c); tier++ {
		path := agreedPath(s[tier][c[tier]])
		if path == "" {
			continue
		}
		if longer := append(slices.Clone(c[:tier+1]), strings.Split(path, separator)...); len(longer) > len(c) {
			c = longer
		}
	}
	return c
}

// agreedPath returns the longest path if all other paths are prefixes of it, and "" otherwise.
func agreedPath(paths map[string]bool) string {
	longest := ""
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if longest != "" && !strings.HasPrefix(path, longest+separator) {
			return ""
		}
		longest = path
	}
	return longest
}

// separator cannot occur in a label value.
const separator = "/"

func joinDomainPath(values []string) string { return strings.Join(values, separator) }

func innermostValue(path string) string {
	value, _, _ := strings.Cut(path, separator)
	return value
}
