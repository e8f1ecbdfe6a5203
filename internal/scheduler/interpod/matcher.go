package interpod

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/vc-batch/vc/internal/model"
)

// test matches pods by a label selector in a set of namespaces.
type test struct {
	selector   labels.Selector
	namespaces []string // sorted
	everywhere bool
	nsSelector labels.Selector // selects more namespaces by their labels; nil if unset
}

func (t *test) cacheKey() string {
	key := t.selector.String() + "|" + strings.Join(t.namespaces, ",")
	if t.selector.Empty() { // an empty selector matches everything; no parsed selector has this key
		key = "*" + key
	}
	switch {
	case t.everywhere:
		return key + "|*"
	case t.nsSelector != nil:
		return key + "|" + t.nsSelector.String()
	}
	return key
}

func (t *test) matchesPod(c *model.Cluster, namespace string, set map[string]string) bool {
	return t.coversNamespace(c, namespace) && t.selector.Matches(labels.Set(set))
}

func (t *test) coversNamespace(c *model.Cluster, namespace string) bool {
	if t.everywhere || slices.Contains(t.namespaces, namespace) {
		return true
	}
	if t.nsSelector == nil {
		return false
	}
	set, exists := c.Namespaces[namespace]
	return exists && t.nsSelector.Matches(labels.Set(set))
}

// matcher matches the pods that pass all of its tests. Terms with equal tests use the same matcher.
type matcher struct {
	order int // order of creation
	tests []test
	// counts holds the tallies of the matching pods, one per topology.
	counts []*tally
	// repels counts the pods that have the matcher as a required anti-affinity term. pulls sums up the weights of the
	// pods that have the matcher as any other affinity term.
	repels, pulls []*tally
}

func (m *matcher) matchesTask(c *model.Cluster, t *model.Task) bool {
	for i := range m.tests {
		if !m.tests[i].matchesPod(c, t.Namespace, t.Labels) {
			return false
		}
	}
	return true
}

// requiredLabel returns a label that every matching pod must have. ok is false if there is no such label.
func (m *matcher) requiredLabel() (key, value string, ok bool) {
	for i := range m.tests {
		requirements, _ := m.tests[i].selector.Requirements()
		for k := range requirements {
			r := &requirements[k]
			one := r.Operator() == selection.Equals || r.Operator() == selection.DoubleEquals || r.Operator() == selection.In
			if values := r.ValuesUnsorted(); one && len(values) == 1 {
				return r.Key(), values[0], true
			}
		}
	}
	return "", "", false
}

// index finds the matchers that match a task without evaluating every matcher.
type index struct {
	byPair map[string]map[string][]*matcher
	others []*matcher
}

func (x *index) addMatcher(m *matcher) {
	key, value, ok := m.requiredLabel()
	if !ok {
		x.others = append(x.others, m)
		return
	}
	if x.byPair == nil {
		x.byPair = map[string]map[string][]*matcher{}
	}
	if x.byPair[key] == nil {
		x.byPair[key] = map[string][]*matcher{}
	}
	x.byPair[key][value] = append(x.byPair[key][value], m)
}

// appendMatching appends the matchers that match a task to out, in no particular order.
func (x *index) appendMatching(c *model.Cluster, t *model.Task, out []*matcher) []*matcher {
	for _, m := range x.others {
		if m.matchesTask(c, t) {
			out = append(out, m)
		}
	}
	for key, values := range x.byPair {
		value, has := t.Labels[key]
		if !has {
			continue
		}
		for _, m := range values[value] {
			if m.matchesTask(c, t) {
				out = append(out, m)
			}
		}
	}
	return out
}
