package interpod

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/vc-batch/vc/internal/model"
)

// rules holds the terms of one shape, and the tallies to which its pods contribute for other pods.
type rules struct {
	shape   *model.Shape
	problem string // error in an invalid term; such a shape fits nowhere

	affinity []*tally // tallies of pods that match all required affinity terms, one per topology key
	alone    bool     // true if a pod of the shape itself matches these terms
	anti     []*tally
	hard     []spread
	soft     []spread
	prefers  []weighted

	repels []*tally   // required anti-affinity terms, which repel the pods that match them
	pulls  []weighted // other affinity terms, which pull or repel the pods that match them
}

// weighted is a tally whose pods count with a weight; a negative weight repels.
type weighted struct {
	tally  *tally
	weight int32
}

// spread is one topology spread constraint.
type spread struct {
	tally      *tally
	skew       int32
	minDomains int32
	self       int32 // 1 if a pod of the shape matches the selector
	everyone   bool  // the selector is empty; kube-scheduler then counts no pods
}

// hardAffinityWeight is the weight of a running pod's required affinity term in the score of pods that match it. It
// is kube-scheduler's default.
const hardAffinityWeight = 1

// compileRules converts a shape's terms to rules.
func (pc *PodCounts) compileRules(shape *model.Shape) *rules {
	r := &rules{shape: shape}
	c := compiler{pc, r}
	if a := shape.PodAffinity; a != nil {
		c.addRequired(a.RequiredDuringSchedulingIgnoredDuringExecution)
		c.addPreferred(a.PreferredDuringSchedulingIgnoredDuringExecution, 1)
	}
	if a := shape.PodAntiAffinity; a != nil {
		for i := range a.RequiredDuringSchedulingIgnoredDuringExecution {
			term := &a.RequiredDuringSchedulingIgnoredDuringExecution[i]
			if test, ok := c.parseTerm(term); ok {
				m, top := pc.sharedMatcher(test), pc.sharedTopology(term.TopologyKey)
				r.anti = append(r.anti, pc.countingTally(m, top, nil))
				r.repels = append(r.repels, pc.heldTermTally(&m.repels, top))
			}
		}
		c.addPreferred(a.PreferredDuringSchedulingIgnoredDuringExecution, -1)
	}
	c.addSpreads()
	return r
}

// compiler fills the rules of one shape.
type compiler struct {
	counts *PodCounts
	r      *rules
}

// parseTerm converts a term to a test. The API server has already merged matchLabelKeys into the term's selector.
func (c compiler) parseTerm(term *corev1.PodAffinityTerm) (test, bool) {
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

// addRequired converts required affinity terms. Only pods that match all the terms count.
func (c compiler) addRequired(terms []corev1.PodAffinityTerm) {
	var tests []test
	for i := range terms {
		test, ok := c.parseTerm(&terms[i])
		if !ok {
			return
		}
		tests = append(tests, test)
		m, top := c.counts.sharedMatcher(test), c.counts.sharedTopology(terms[i].TopologyKey)
		c.r.pulls = append(c.r.pulls, weighted{c.counts.heldTermTally(&m.pulls, top), hardAffinityWeight})
	}
	if len(tests) == 0 {
		return
	}
	m := c.counts.sharedMatcher(tests...)
	c.r.alone = c.matchesSelf(m)
	for i := range terms {
		c.r.affinity = append(c.r.affinity, c.counts.countingTally(m, c.counts.sharedTopology(terms[i].TopologyKey), nil))
	}
}

func (c compiler) addPreferred(terms []corev1.WeightedPodAffinityTerm, sign int32) {
	for i := range terms {
		term := &terms[i].PodAffinityTerm
		if test, ok := c.parseTerm(term); ok {
			m, top := c.counts.sharedMatcher(test), c.counts.sharedTopology(term.TopologyKey)
			c.r.prefers = append(c.r.prefers, weighted{c.counts.countingTally(m, top, nil), sign * terms[i].Weight})
			c.r.pulls = append(c.r.pulls, weighted{c.counts.heldTermTally(&m.pulls, top), sign * terms[i].Weight})
		}
	}
}

// matchesSelf reports whether a pod of the shape itself matches a matcher.
func (c compiler) matchesSelf(m *matcher) bool {
	for i := range m.tests {
		if !m.tests[i].matchesPod(c.counts.cluster, c.r.shape.Namespace, c.r.shape.Labels) {
			return false
		}
	}
	return true
}

// addSpreads converts the spread constraints. Required constraints count pods only on nodes that have the topology
// keys of all required constraints. Soft constraints count pods only on nodes that have the keys of all soft
// constraints.
func (c compiler) addSpreads() {
	for _, action := range []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway} {
		var keys []*topology
		for i := range c.r.shape.Spread {
			if k := &c.r.shape.Spread[i]; k.WhenUnsatisfiable == action {
				keys = append(keys, c.counts.sharedTopology(k.TopologyKey))
			}
		}
		for i := range c.r.shape.Spread {
			if k := &c.r.shape.Spread[i]; k.WhenUnsatisfiable == action {
				c.addSpread(k, keys)
			}
		}
	}
}

func (c compiler) addSpread(k *corev1.TopologySpreadConstraint, keys []*topology) {
	selector, err := metav1.LabelSelectorAsSelector(k.LabelSelector)
	if err != nil {
		c.r.problem = "topology spread selector: " + err.Error()
		return
	}
	selector = requireLabels(selector, k.MatchLabelKeys, c.r.shape.Labels)
	m := c.counts.sharedMatcher(test{selector: selector, namespaces: []string{c.r.shape.Namespace}})
	s := spread{skew: k.MaxSkew, minDomains: 1, everyone: selector.Empty()}
	if k.MinDomains != nil {
		s.minDomains = *k.MinDomains
	}
	if c.matchesSelf(m) {
		s.self = 1
	}
	top := c.counts.sharedTopology(k.TopologyKey)
	affinity := k.NodeAffinityPolicy == nil || *k.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor
	taints := k.NodeTaintsPolicy != nil && *k.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	s.tally = c.counts.countingTally(m, top, c.counts.sharedEligible(c.r.shape, keys, affinity, taints))
	if k.WhenUnsatisfiable == corev1.DoNotSchedule {
		c.r.hard = append(c.r.hard, s)
	} else {
		c.r.soft = append(c.r.soft, s)
	}
}

// requireLabels restricts a selector to pods whose values of the given labels equal the shape's.
func requireLabels(selector labels.Selector, keys []string, of map[string]string) labels.Selector {
	for _, key := range keys {
		value, has := of[key]
		if !has {
			continue
		}
		r, err := labels.NewRequirement(key, selection.Equals, []string{value})
		if err != nil {
			continue // no pod can have such a label
		}
		selector = selector.Add(*r)
	}
	return selector
}
