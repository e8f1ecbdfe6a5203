package session

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
)

// podRules judges what depends on other pods: affinity and anti-affinity, also
// of those that run already, and topology spread. State is kept per shape and
// follows what the cycle places.
type podRules struct {
	shapes map[*model.Shape]*shapeRules
	// anti are the required anti-affinity terms of pods on nodes.
	anti      []antiTerm
	antiKnown bool
}

// antiTerm keeps matching pods away from a topology value.
type antiTerm struct {
	term  *podTerm
	value string
}

// podTerm is one affinity term or spread constraint, ready to match.
type podTerm struct {
	key           string
	selector      labels.Selector
	namespaces    []string
	allNamespaces bool
	weight        int32 // preferred terms; negative: away
	count         map[string]int
	spread        *corev1.TopologySpreadConstraint
	self          bool // the shape matches its own term
}

// shapeRules are the terms of one shape with counts of matching pods by topology
// value.
type shapeRules struct {
	affinity, anti, spread, preferred []*podTerm
	all                               []*podTerm
	problem                           string // a term that cannot be judged
}

func (t *podTerm) matches(namespace string, set map[string]string) bool {
	if !t.allNamespaces && !slices.Contains(t.namespaces, namespace) {
		return false
	}
	return t.selector.Matches(labels.Set(set))
}

// needsRules says whether a task's place depends on other pods.
func (s *Session) needsRules(t *model.Task) bool {
	f := &s.Judge.Filters
	if t.Shape.Slow && (f.PodRules || f.Spread) {
		return true
	}
	return f.PodRules && s.antiMatches(t, nil)
}

// antiMatches says whether a pod on a node keeps this task away from the value
// that the node has (any node: nil).
func (s *Session) antiMatches(t *model.Task, info *model.NodeInfo) bool {
	s.loadAnti()
	for i := range s.rules.anti {
		a := &s.rules.anti[i]
		if info != nil {
			if value, ok := info.Labels[a.term.key]; !ok || value != a.value {
				continue
			}
		}
		if a.term.matches(t.Namespace, t.Labels) {
			return true
		}
	}
	return false
}

// loadAnti collects the anti-affinity terms of what is on nodes.
func (s *Session) loadAnti() {
	if s.rules.antiKnown {
		return
	}
	s.rules.antiKnown = true
	any := false
	for _, shape := range s.Cluster.Shapes {
		any = any || shape != nil && len(required(shape.PodAntiAffinity)) > 0
	}
	if !any {
		return
	}
	for _, id := range s.View.Order {
		for _, t := range s.View.Nodes.Tasks[id] {
			if t.Status != model.Pipelined {
				s.addAnti(t, id)
			}
		}
	}
}

func required(a *corev1.PodAntiAffinity) []corev1.PodAffinityTerm {
	if a == nil {
		return nil
	}
	return a.RequiredDuringSchedulingIgnoredDuringExecution
}

func (s *Session) addAnti(t *model.Task, id model.NodeID) {
	terms := required(t.Shape.PodAntiAffinity)
	if len(terms) == 0 {
		return
	}
	for _, term := range s.rulesOf(t.Shape).anti {
		if value, ok := s.View.Nodes.Info[id].Labels[term.key]; ok {
			s.rules.anti = append(s.rules.anti, antiTerm{term, value})
		}
	}
}

// placedRule and unplacedRule keep the counts in step with the overlay.
func (s *Session) placedRule(t *model.Task, id model.NodeID) { s.countRule(t, id, 1) }

func (s *Session) unplacedRule(t *model.Task, id model.NodeID) { s.countRule(t, id, -1) }

func (s *Session) countRule(t *model.Task, id model.NodeID, sign int) {
	for _, r := range s.rules.shapes {
		for _, term := range r.all {
			if value, ok := s.View.Nodes.Info[id].Labels[term.key]; ok && term.matches(t.Namespace, t.Labels) {
				term.count[value] += sign
			}
		}
	}
	if !s.rules.antiKnown || len(required(t.Shape.PodAntiAffinity)) == 0 {
		return
	}
	if sign > 0 {
		s.addAnti(t, id)
		return
	}
	s.rules.anti = s.rules.anti[:len(s.rules.anti)-s.antiTermsAt(t, id)]
}

func (s *Session) antiTermsAt(t *model.Task, id model.NodeID) int {
	n := 0
	for _, term := range s.rulesOf(t.Shape).anti {
		if _, ok := s.View.Nodes.Info[id].Labels[term.key]; ok {
			n++
		}
	}
	return n
}

// rulesOf returns a shape's terms with counts over what is on nodes now.
func (s *Session) rulesOf(shape *model.Shape) *shapeRules {
	if r, ok := s.rules.shapes[shape]; ok {
		return r
	}
	r := compile(shape)
	if s.rules.shapes == nil {
		s.rules.shapes = map[*model.Shape]*shapeRules{}
	}
	s.rules.shapes[shape] = r
	if len(r.all) == 0 {
		return r
	}
	tally := func(t *model.Task, id model.NodeID) {
		for _, term := range r.all {
			if value, ok := s.View.Nodes.Info[id].Labels[term.key]; ok && term.matches(t.Namespace, t.Labels) {
				term.count[value]++
			}
		}
	}
	for _, id := range s.View.Order {
		for _, t := range s.View.Nodes.Tasks[id] {
			if t.Status != model.Pipelined {
				tally(t, id)
			}
		}
	}
	s.View.Each(func(id model.NodeID, t *model.Task) { tally(t, id) })
	return r
}

// compile makes the terms of a shape ready to match.
func compile(shape *model.Shape) *shapeRules {
	r := &shapeRules{}
	add := func(list *[]*podTerm, t *corev1.PodAffinityTerm, weight int32) {
		term, problem := affinityTerm(shape, t)
		if problem != "" {
			r.problem = problem
			return
		}
		term.weight = weight
		*list = append(*list, term)
		r.all = append(r.all, term)
	}
	if a := shape.PodAffinity; a != nil {
		for i := range a.RequiredDuringSchedulingIgnoredDuringExecution {
			add(&r.affinity, &a.RequiredDuringSchedulingIgnoredDuringExecution[i], 0)
		}
		for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
			p := &a.PreferredDuringSchedulingIgnoredDuringExecution[i]
			add(&r.preferred, &p.PodAffinityTerm, p.Weight)
		}
	}
	if a := shape.PodAntiAffinity; a != nil {
		for i := range a.RequiredDuringSchedulingIgnoredDuringExecution {
			add(&r.anti, &a.RequiredDuringSchedulingIgnoredDuringExecution[i], 0)
		}
		for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
			p := &a.PreferredDuringSchedulingIgnoredDuringExecution[i]
			add(&r.preferred, &p.PodAffinityTerm, -p.Weight)
		}
	}
	for i := range shape.Spread {
		c := &shape.Spread[i]
		selector, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
		if err != nil {
			r.problem = "topology spread selector: " + err.Error()
			continue
		}
		term := &podTerm{key: c.TopologyKey, selector: selector, namespaces: []string{shape.Namespace}, count: map[string]int{}, spread: c}
		term.self = term.matches(shape.Namespace, shape.Labels)
		r.spread = append(r.spread, term)
		r.all = append(r.all, term)
	}
	return r
}

func affinityTerm(shape *model.Shape, t *corev1.PodAffinityTerm) (term *podTerm, problem string) {
	selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil {
		return nil, "pod affinity selector: " + err.Error()
	}
	term = &podTerm{key: t.TopologyKey, selector: selector, namespaces: t.Namespaces, count: map[string]int{}}
	if ns := t.NamespaceSelector; ns != nil {
		if len(ns.MatchLabels)+len(ns.MatchExpressions) > 0 {
			return nil, "pod affinity with a namespaceSelector by labels is not judged yet"
		}
		term.allNamespaces = true
	} else if len(t.Namespaces) == 0 {
		term.namespaces = []string{shape.Namespace}
	}
	term.self = term.matches(shape.Namespace, shape.Labels)
	return term, ""
}

// allows says whether the rules let a task onto a node, and if not why.
func (s *Session) allows(t *model.Task, r *shapeRules, id model.NodeID) (reason.Code, string) {
	info := s.View.Nodes.Info[id]
	f := &s.Judge.Filters
	if r.problem != "" {
		return reason.PodAffinityMismatch, r.problem
	}
	if f.PodRules {
		if s.antiMatches(t, info) {
			return reason.PodAffinityMismatch, "anti-affinity of a running pod"
		}
		for _, term := range r.anti {
			if value, ok := info.Labels[term.key]; ok && term.count[value] > 0 {
				return reason.PodAffinityMismatch, "anti-affinity by " + term.key
			}
		}
		if key, ok := r.affine(info); !ok {
			return reason.PodAffinityMismatch, "affinity by " + key
		}
	}
	if f.Spread {
		for _, term := range r.spread {
			if term.spread.WhenUnsatisfiable == corev1.DoNotSchedule && !s.spreads(t.Shape, term, info) {
				return reason.TopologySpread, term.key
			}
		}
	}
	return "", ""
}

// affine says whether a node has the pods that the shape wants near. The first
// pod of a group that wants its own kind may go anywhere.
func (r *shapeRules) affine(info *model.NodeInfo) (key string, ok bool) {
	found, self, missing := 0, true, ""
	for _, term := range r.affinity {
		value, has := info.Labels[term.key]
		if !has {
			return term.key, false
		}
		if term.count[value] == 0 && missing == "" {
			missing = term.key
		}
		for _, n := range term.count {
			found += n
		}
		self = self && term.self
	}
	if missing != "" && (found > 0 || !self) {
		return missing, false
	}
	return "", true
}

// spreads says whether one more pod keeps the skew.
func (s *Session) spreads(shape *model.Shape, term *podTerm, info *model.NodeInfo) bool {
	value, ok := info.Labels[term.key]
	if !ok {
		return false
	}
	least, domains := s.leastDomain(shape, term)
	if term.spread.MinDomains != nil && domains < int(*term.spread.MinDomains) {
		least = 0
	}
	self := 0
	if term.self {
		self = 1
	}
	return term.count[value]+self-least <= int(term.spread.MaxSkew)
}

// leastDomain is the least count over the topology values that the shape's own
// node affinity (and, when asked for, taints) lets it use, and their number.
func (s *Session) leastDomain(shape *model.Shape, term *podTerm) (least, domains int) {
	least = math.MaxInt
	seen := map[string]bool{}
	for _, id := range s.View.Order {
		info := s.View.Nodes.Info[id]
		value, ok := info.Labels[term.key]
		if !ok || seen[value] || !s.spreadOver(shape, term, info) {
			continue
		}
		seen[value] = true
		least = min(least, term.count[value])
	}
	if len(seen) == 0 {
		least = 0
	}
	return least, len(seen)
}

func (s *Session) spreadOver(shape *model.Shape, term *podTerm, info *model.NodeInfo) bool {
	c := term.spread
	if c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor {
		if shape.Required != nil {
			if ok, err := shape.Required.Match(info.Node); err != nil || !ok {
				return false
			}
		}
	}
	if c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor {
		f := s.Judge.Filters
		f.Affinity = false
		if code, _ := f.Static(shape, info); code != "" {
			return false
		}
	}
	return true
}

// findByRules is find for tasks whose place depends on other pods, or on what
// policies say of nodes.
func (s *Session) findByRules(j *Job, t *model.Task, rules []NodeRule) (model.NodeID, bool, bool) {
	if node, ok := s.bestByRules(j, t, rules, false); ok {
		return node, false, true
	}
	if s.View.Releasing == 0 && !s.evicting() {
		return model.NoNode, false, false
	}
	node, ok := s.bestByRules(j, t, rules, true)
	return node, true, ok
}

// bestByRules looks at every node that has room, by name.
func (s *Session) bestByRules(j *Job, t *model.Task, rules []NodeRule, later bool) (model.NodeID, bool) {
	var r *shapeRules
	if s.needsRules(t) {
		r = s.rulesOf(t.Shape)
	}
	nodes, points := s.candidates[:0], s.points[:0]
	s.Judge.Each(t.Shape, later, func(id model.NodeID, score int32) {
		sum := float64(score) / 1000
		if r != nil {
			if code, _ := s.allows(t, r, id); code != "" {
				return
			}
			sum += float64(s.preference(r, id)) / 1000
		}
		if code, _ := allowedBy(rules, j, t, id, later); code != "" {
			return
		}
		nodes, points = append(nodes, id), append(points, sum)
	})
	s.candidates, s.points = nodes, points
	if len(nodes) == 0 {
		return model.NoNode, false
	}
	rankBy(rules, j, t, nodes, points)
	best := 0
	for i := range points {
		if points[i] > points[best] {
			best = i
		}
	}
	return nodes[best], true
}

// preference scores preferred affinity and soft spread: points as they are, so
// that a node's score depends on its own domain only.
func (s *Session) preference(r *shapeRules, id model.NodeID) int64 {
	w := &s.Judge.Weights
	info := s.View.Nodes.Info[id]
	sum := 0.0
	for _, term := range r.preferred {
		if value, ok := info.Labels[term.key]; ok {
			sum += w.PodAffinity * float64(term.weight) * float64(term.count[value])
		}
	}
	for _, term := range r.spread {
		if value, ok := info.Labels[term.key]; ok {
			sum -= w.Spread * 10 * float64(term.count[value])
		}
	}
	return int64(sum * 1000)
}

// ruleJudge is allows for the tally; nil when the task has no such rules.
func (s *Session) ruleJudge(j *Job, t *model.Task) func(model.NodeID) (reason.Code, string) {
	rules := s.nodeRules(j, t)
	var r *shapeRules
	if s.needsRules(t) {
		r = s.rulesOf(t.Shape)
	}
	if r == nil && len(rules) == 0 {
		return nil
	}
	return func(id model.NodeID) (reason.Code, string) {
		if r != nil {
			if code, detail := s.allows(t, r, id); code != "" {
				return code, detail
			}
		}
		return allowedBy(rules, j, t, id, false)
	}
}
