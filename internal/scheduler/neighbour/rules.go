package neighbour

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/vc-batch/vc/internal/model"
)

// rules are one shape's own terms, and what its pods count for others.
type rules struct {
	shape   *model.Shape
	problem string // a term that cannot be read: such a shape goes nowhere

	affinity []*tally // pods that match all required affinity terms, by each term's key
	alone    bool     // a pod of the shape matches these terms itself
	anti     []*tally
	hard     []spread
	soft     []spread
	prefers  []weighted

	repels []*tally   // its required anti-affinity, for pods that these match
	pulls  []weighted // its other affinity
}

// weighted is a tally that counts so much each; negative: away from there.
type weighted struct {
	tally  *tally
	weight int32
}

// spread is one topology spread constraint.
type spread struct {
	tally      *tally
	skew       int32
	minDomains int32
	self       int32 // 1: a pod of the shape matches the selector
	everyone   bool  // the selector is empty: kube-scheduler counts nobody
}

// hardAffinityWeight is what a required affinity term of a pod that runs is worth
// to the pods that it matches: kube-scheduler's default.
const hardAffinityWeight = 1

// compile reads a shape's terms.
func (b *Book) compile(shape *model.Shape) *rules {
	r := &rules{shape: shape}
	c := compiler{b, r}
	if a := shape.PodAffinity; a != nil {
		c.required(a.RequiredDuringSchedulingIgnoredDuringExecution)
		c.preferred(a.PreferredDuringSchedulingIgnoredDuringExecution, 1)
	}
	if a := shape.PodAntiAffinity; a != nil {
		for i := range a.RequiredDuringSchedulingIgnoredDuringExecution {
			term := &a.RequiredDuringSchedulingIgnoredDuringExecution[i]
			if test, ok := c.read(term); ok {
				m, top := b.matcher(test), b.topology(term.TopologyKey)
				r.anti = append(r.anti, b.counting(m, top, nil))
				r.repels = append(r.repels, b.holding(&m.repels, top))
			}
		}
		c.preferred(a.PreferredDuringSchedulingIgnoredDuringExecution, -1)
	}
	c.spreads()
	return r
}

// compiler fills the rules of one shape.
type compiler struct {
	b *Book
	r *rules
}

// read makes a term ready to match; matchLabelKeys are in its selector already,
// as the API server puts them there.
func (c compiler) read(term *corev1.PodAffinityTerm) (test, bool) {
	selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
	if err != nil {
		c.r.problem = "pod affinity selector: " + err.Error()
		return test{}, false
	}
	t := test{selector: selector, namespaces: slices.Sorted(slices.Values(term.Namespaces))}
	if term.NamespaceSelector == nil {
		if len(t.namespaces) == 0 {
			t.namespaces = []string{c.r.shape.Namespace}
		}
		return t, true
	}
	if t.nsSelector, err = metav1.LabelSelectorAsSelector(term.NamespaceSelector); err != nil {
		c.r.problem = "pod affinity namespaceSelector: " + err.Error()
		return test{}, false
	}
	if t.nsSelector.Empty() {
		t.everywhere, t.nsSelector = true, nil
	}
	return t, true
}

// required reads affinity terms: a pod has to match all of them to count.
func (c compiler) required(terms []corev1.PodAffinityTerm) {
	var tests []test
	for i := range terms {
		test, ok := c.read(&terms[i])
		if !ok {
			return
		}
		tests = append(tests, test)
		m, top := c.b.matcher(test), c.b.topology(terms[i].TopologyKey)
		c.r.pulls = append(c.r.pulls, weighted{c.b.holding(&m.pulls, top), hardAffinityWeight})
	}
	if len(tests) == 0 {
		return
	}
	m := c.b.matcher(tests...)
	c.r.alone = c.self(m)
	for i := range terms {
		c.r.affinity = append(c.r.affinity, c.b.counting(m, c.b.topology(terms[i].TopologyKey), nil))
	}
}

func (c compiler) preferred(terms []corev1.WeightedPodAffinityTerm, sign int32) {
	for i := range terms {
		term := &terms[i].PodAffinityTerm
		if test, ok := c.read(term); ok {
			m, top := c.b.matcher(test), c.b.topology(term.TopologyKey)
			c.r.prefers = append(c.r.prefers, weighted{c.b.counting(m, top, nil), sign * terms[i].Weight})
			c.r.pulls = append(c.r.pulls, weighted{c.b.holding(&m.pulls, top), sign * terms[i].Weight})
		}
	}
}

// self says whether a pod of the shape matches.
func (c compiler) self(m *matcher) bool {
	for i := range m.tests {
		if !m.tests[i].matches(c.b.cluster, c.r.shape.Namespace, c.r.shape.Labels) {
			return false
		}
	}
	return true
}

// spreads reads the constraints. Those that must hold count on nodes that have
// all of their keys, those that should on nodes that have all of theirs.
func (c compiler) spreads() {
	for _, action := range []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway} {
		var keys []*topology
		for i := range c.r.shape.Spread {
			if k := &c.r.shape.Spread[i]; k.WhenUnsatisfiable == action {
				keys = append(keys, c.b.topology(k.TopologyKey))
			}
		}
		for i := range c.r.shape.Spread {
			if k := &c.r.shape.Spread[i]; k.WhenUnsatisfiable == action {
				c.spread(k, keys)
			}
		}
	}
}

func (c compiler) spread(k *corev1.TopologySpreadConstraint, keys []*topology) {
	selector, err := metav1.LabelSelectorAsSelector(k.LabelSelector)
	if err != nil {
		c.r.problem = "topology spread selector: " + err.Error()
		return
	}
	selector = withLabels(selector, k.MatchLabelKeys, c.r.shape.Labels)
	m := c.b.matcher(test{selector: selector, namespaces: []string{c.r.shape.Namespace}})
	s := spread{skew: k.MaxSkew, minDomains: 1, everyone: selector.Empty()}
	if k.MinDomains != nil {
		s.minDomains = *k.MinDomains
	}
	if c.self(m) {
		s.self = 1
	}
	top := c.b.topology(k.TopologyKey)
	affinity := k.NodeAffinityPolicy == nil || *k.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor
	taints := k.NodeTaintsPolicy != nil && *k.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	s.tally = c.b.counting(m, top, c.b.eligible(c.r.shape, keys, affinity, taints))
	if k.WhenUnsatisfiable == corev1.DoNotSchedule {
		c.r.hard = append(c.r.hard, s)
	} else {
		c.r.soft = append(c.r.soft, s)
	}
}

// withLabels narrows a selector to pods that have the shape's values of some keys.
func withLabels(selector labels.Selector, keys []string, of map[string]string) labels.Selector {
	for _, key := range keys {
		value, has := of[key]
		if !has {
			continue
		}
		r, err := labels.NewRequirement(key, selection.Equals, []string{value})
		if err != nil {
			continue // no label of a pod is like that
		}
		selector = selector.Add(*r)
	}
	return selector
}
