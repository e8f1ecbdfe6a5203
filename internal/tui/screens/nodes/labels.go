package nodes

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// labeller selects the labels that distinguish nodes, which are labels with more than one but not too many values.
type labeller struct {
	names []string
	texts map[string]string // by node
}

const (
	mostLabels = 3
	mostValues = 12
)

// silent lists the prefixes of labels that are shown elsewhere or are not of interest.
var silent = []string{"kubernetes.io/hostname", "topology.", "rack", "zone", "beta.kubernetes.io/", "kubernetes.io/os", "kubernetes.io/arch", "failure-domain."}

// evaluateLabels evaluates the labels of all nodes.
func (l *labeller) evaluateLabels(nodes []*node) {
	values := countLabelValues(nodes)
	l.names, l.texts = nil, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		count := len(values[name])
		several := count > 1 || (count == 1 && sumOfValues(values[name]) < len(nodes))
		formsGroups := count < len(nodes) || len(nodes) <= 2
		if several && formsGroups && count <= mostValues {
			l.names = append(l.names, name)
		}
	}
	slices.SortStableFunc(l.names, func(a, b string) int { return cmp.Compare(rankLabelName(a), rankLabelName(b)) })
	l.names = l.names[:min(len(l.names), mostLabels)]
	for _, n := range nodes {
		var words []string
		for _, name := range l.names {
			if value := n.Labels[name]; value != "" {
				words = append(words, value)
			}
		}
		l.texts[n.Name] = strings.Join(words, " ")
	}
}

// countLabelValues counts the nodes with each value of each label that is not silent. It stops counting a label that
// has too many values.
func countLabelValues(nodes []*node) map[string]map[string]int {
	values := map[string]map[string]int{}
	for _, n := range nodes {
		for name, value := range n.Labels {
			if value == "" || isSilent(name) {
				continue
			}
			if values[name] == nil {
				values[name] = map[string]int{}
			}
			if len(values[name]) <= mostValues {
				values[name][value]++
			}
		}
	}
	return values
}

func isSilent(label string) bool {
	return slices.ContainsFunc(silent, func(prefix string) bool { return strings.HasPrefix(label, prefix) })
}

func sumOfValues(values map[string]int) (sum int) {
	for _, n := range values {
		sum += n
	}
	return sum
}

// rankLabelName ranks labels: device names first, then pools, then all others.
func rankLabelName(name string) int {
	switch {
	case strings.Contains(name, "gpu"), strings.Contains(name, "accelerator"):
		return 0
	case strings.Contains(name, "pool"), strings.Contains(name, "instance-type"):
		return 1
	}
	return 2
}

func (l *labeller) labelTextOf(n *node) string { return l.texts[n.Name] }
