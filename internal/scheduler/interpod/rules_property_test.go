package interpod_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// topologyKeys are the labels by which rules about other pods group nodes. Some nodes have no zone.
var topologyKeys = []string{"zone", corev1.LabelHostname}

// podRule is one rule of a pod about the pods with a label, in the domains of a topology key.
type podRule struct {
	app, key string
	skew     int // of spread constraints
}

// ruledPod is a pod that runs, or one that waits. Each requests 1 cpu.
type ruledPod struct {
	app, namespace string
	zone           string // of the node selector
	affinity, anti *podRule
	spread         []podRule
}

// ruledNode is a node with its pods.
type ruledNode struct {
	name, zone string
	cpu, slots int
	pods       []*ruledPod
}

// domain returns the value of a topology key; "" if the node lacks it.
func (n *ruledNode) domain(key string) string {
	if key == corev1.LabelHostname {
		return n.name
	}
	return n.zone
}

// ruledWorld has nodes, pods that run, and a gang of equal pods.
type ruledWorld struct {
	nodes   []*ruledNode
	waiter  ruledPod
	members int
}

func drawRuled(t *rapid.T) *ruledWorld {
	w := &ruledWorld{members: rapid.IntRange(1, 4).Draw(t, "members")}
	app := rapid.SampledFrom([]string{"a", "b"})
	key := rapid.SampledFrom(topologyKeys)
	rule := func(what string, oneIn int) *podRule {
		if rapid.IntRange(1, oneIn).Draw(t, what) > 1 {
			return nil
		}
		return &podRule{app: app.Draw(t, "of app"), key: key.Draw(t, "by"), skew: rapid.IntRange(1, 2).Draw(t, "skew")}
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "nodes") {
		n := &ruledNode{
			name: fmt.Sprintf("n%d", i), zone: rapid.SampledFrom([]string{"x", "y", "z", ""}).Draw(t, "zone"),
			cpu: rapid.IntRange(1, 4).Draw(t, "cpu"), slots: rapid.IntRange(1, 5).Draw(t, "slots"),
		}
		for range rapid.IntRange(0, min(n.cpu, n.slots, 2)).Draw(t, "pods") {
			n.pods = append(n.pods, &ruledPod{
				app: app.Draw(t, "app"), namespace: rapid.SampledFrom([]string{"default", "default", "other"}).Draw(t, "namespace"), anti: rule("repels", 4),
			})
		}
		w.nodes = append(w.nodes, n)
	}
	w.waiter = ruledPod{
		app: app.Draw(t, "app"), namespace: "default", zone: rapid.SampledFrom([]string{"", "", "x"}).Draw(t, "selector"),
		affinity: rule("affinity", 2), anti: rule("anti-affinity", 2),
	}
	for range 2 {
		if spread := rule("spread", 3); spread != nil && !slices.ContainsFunc(w.waiter.spread, func(s podRule) bool { return s.key == spread.key }) {
			w.waiter.spread = append(w.waiter.spread, *spread)
		}
	}
	return w
}

// matches reports whether a rule of a pod is about another pod. Such rules apply to pods of their own namespace.
func (r *podRule) matches(of, other *ruledPod) bool {
	return other.app == r.app && other.namespace == of.namespace
}

// count counts the pods that a rule of the waiting pods is about, in one domain of its key.
func (w *ruledWorld) count(r *podRule, domain string) (n int) {
	for _, node := range w.nodes {
		if node.domain(r.key) != domain {
			continue
		}
		for _, p := range node.pods {
			if r.matches(&w.waiter, p) {
				n++
			}
		}
	}
	return n
}

// why returns the reason that the sentence names for a node; "" if the node takes a waiting pod.
func (w *ruledWorld) why(n *ruledNode) string {
	p := &w.waiter
	switch {
	case p.zone != "" && p.zone != n.zone:
		return "NodeSelectorMismatch zone=" + p.zone
	case len(n.pods)+1 > n.slots:
		return "TooManyPods"
	case len(n.pods)+1 > n.cpu:
		return "InsufficientResource cpu (short by 1)"
	case p.anti != nil && n.domain(p.anti.key) != "" && w.count(p.anti, n.domain(p.anti.key)) > 0:
		return "PodAffinityMismatch anti-affinity by " + p.anti.key
	case w.isRepelled(n):
		return "PodAffinityMismatch anti-affinity of a running pod"
	case p.affinity != nil && !w.attracts(n):
		return "PodAffinityMismatch affinity by " + p.affinity.key
	}
	for i := range p.spread {
		if !w.evens(n, &p.spread[i]) {
			return "TopologySpread " + p.spread[i].key
		}
	}
	return ""
}

// isRepelled reports whether a pod in a domain of the node has an anti-affinity to the waiting pods.
func (w *ruledWorld) isRepelled(n *ruledNode) bool {
	for _, other := range w.nodes {
		for _, p := range other.pods {
			if p.anti == nil || !p.anti.matches(p, &w.waiter) {
				continue
			}
			if domain := other.domain(p.anti.key); domain != "" && domain == n.domain(p.anti.key) {
				return true
			}
		}
	}
	return false
}

// attracts reports whether a pod that the waiting pods want is in the node's domain. The first pod of a gang whose pods
// want each other may be anywhere.
func (w *ruledWorld) attracts(n *ruledNode) bool {
	rule := w.waiter.affinity
	if n.domain(rule.key) == "" {
		return false
	}
	if w.count(rule, n.domain(rule.key)) > 0 {
		return true
	}
	for _, other := range w.nodes {
		if domain := other.domain(rule.key); domain != "" && w.count(rule, domain) > 0 {
			return false
		}
	}
	return rule.matches(&w.waiter, &w.waiter)
}

// evens reports whether a pod more keeps the node's domain within the skew. Only nodes count that the pods may use and
// that have the keys of all spread constraints.
func (w *ruledWorld) evens(n *ruledNode, s *podRule) bool {
	counts := map[string]int{}
	for _, node := range w.nodes {
		counted := w.waiter.zone == "" || w.waiter.zone == node.zone
		for i := range w.waiter.spread {
			counted = counted && node.domain(w.waiter.spread[i].key) != ""
		}
		if !counted {
			continue
		}
		counts[node.domain(s.key)] += 0
		for _, p := range node.pods {
			if s.matches(&w.waiter, p) {
				counts[node.domain(s.key)]++
			}
		}
	}
	if n.domain(s.key) == "" {
		return false
	}
	here := counts[n.domain(s.key)]
	if s.matches(&w.waiter, &w.waiter) {
		here++
	}
	return len(counts) == 0 || here-slices.Min(slices.Collect(maps.Values(counts))) <= s.skew
}

// outcomes places the gang's pods one by one, in every way. It returns the sentences for the ways that end before the
// last pod, and whether some way places them all.
func (w *ruledWorld) outcomes() (sentences map[string]bool, starts bool) {
	sentences = map[string]bool{}
	var place func(placed int)
	place = func(placed int) {
		if placed == w.members {
			starts = true
			return
		}
		stuck := true
		for _, n := range w.nodes {
			if w.why(n) != "" {
				continue
			}
			stuck = false
			n.pods = append(n.pods, &w.waiter)
			place(placed + 1)
			n.pods = n.pods[:len(n.pods)-1]
		}
		if stuck {
			sentences[w.sentence(placed)] = true
		}
	}
	place(0)
	return sentences, starts
}

// sentence returns the explanation if no node takes the next pod.
func (w *ruledWorld) sentence(placed int) string {
	counts := map[string]int{}
	for _, n := range w.nodes {
		counts[w.why(n)]++
	}
	reasons := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(-cmp.Compare(counts[a], counts[b]), cmp.Compare(a, b))
	})
	var parts []string
	for _, reason := range reasons {
		parts = append(parts, fmt.Sprintf("%d %s", counts[reason], reason))
	}
	nodes := fmt.Sprintf("0/%d nodes can run one more pod: %s", len(w.nodes), strings.Join(parts, ", "))
	if selected := "NodeSelectorMismatch zone=" + w.waiter.zone; counts[selected] == len(w.nodes) {
		nodes = fmt.Sprintf("no node has the label zone=%s (%d of %d nodes)", w.waiter.zone, len(w.nodes), len(w.nodes))
	}
	if w.members == 1 {
		return "the pod does not fit on any node: " + strings.Replace(nodes, "one more pod", "it", 1)
	}
	small := ": "
	if all := w.allCPU(); w.members > all {
		small = fmt.Sprintf(", because the cluster is too small: cpu requested %d, limit %d; ", w.members, all)
	}
	return fmt.Sprintf("not all pods of the gang fit at the same time%s%d of %d fit; %s", small, placed, w.members, nodes)
}

func (w *ruledWorld) allCPU() (sum int) {
	for _, n := range w.nodes {
		sum += n.cpu
	}
	return sum
}

// term returns a rule in the form that pods have.
func (r *podRule) term() []corev1.PodAffinityTerm {
	return []corev1.PodAffinityTerm{{TopologyKey: r.key, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": r.app}}}}
}

// build returns a pod as the API has it.
func (p *ruledPod) build(name string) *make.PodBuilder {
	b := make.Pod(name).Namespace(p.namespace).CPU("1").Label("app", p.app)
	affinity := &corev1.Affinity{}
	if p.affinity != nil {
		affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: p.affinity.term()}
	}
	if p.anti != nil {
		affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: p.anti.term()}
	}
	b.Affinity(affinity)
	for _, s := range p.spread {
		b.Spread(s.key, int32(s.skew))
		constraints := b.Obj().Spec.TopologySpreadConstraints
		constraints[len(constraints)-1].LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": s.app}}
	}
	if p.zone != "" {
		b.Select("zone", p.zone)
	}
	return b
}

// tell puts the world into a model.
func (w *ruledWorld) tell() *model.Cluster {
	m := model.New()
	m.Apply(model.QueueFrom(make.Queue("default").Obj()))
	for _, n := range w.nodes {
		b := make.Node(n.name).CPU(fmt.Sprint(n.cpu)).Resource("pods", fmt.Sprint(n.slots))
		if n.zone != "" {
			b.Label("zone", n.zone)
		}
		m.Apply(model.NodeFrom(b.Obj()))
		for i, p := range n.pods {
			pod := p.build(fmt.Sprintf("on-%s-%d", n.name, i)).On(n.name).Phase(corev1.PodRunning).Obj()
			pod.Spec.SchedulerName = "default-scheduler"
			m.Apply(model.TaskFrom(pod, false))
		}
	}
	m.Apply(model.GangFrom(make.Gang("g").Min(w.members).Queue("default").Obj()))
	for i := range w.members {
		m.Apply(model.TaskFrom(w.waiter.build(fmt.Sprintf("g-%d", i)).Gang("g").Obj(), true))
	}
	return m
}

func (w *ruledWorld) String() string {
	text := fmt.Sprintf("%d of %+v affinity %+v anti %+v\n", w.members, w.waiter, w.waiter.affinity, w.waiter.anti)
	for _, n := range w.nodes {
		text += fmt.Sprintf("%s zone=%s cpu=%d slots=%d\n", n.name, n.zone, n.cpu, n.slots)
		for _, p := range n.pods {
			text += fmt.Sprintf("  %+v anti %+v\n", *p, p.anti)
		}
	}
	return text
}

// TestRulesAboutOtherPodsAreCountedAsTheyAre (I12) compares the sentence about a gang whose pods have affinities,
// anti-affinities and spread constraints with an independent count: the number of pods that fit, and of nodes by
// reason. As the order of the nodes is the engine's choice, the count tries every order. A gang that fits in no order
// must wait, and one that fits in every order must start.
func TestRulesAboutOtherPodsAreCountedAsTheyAre(t *testing.T) {
	cfg, _, err := config.Parse([]byte("actions: allocate\ntiers:\n- plugins: [{name: gang}, {name: predicates}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]int{}
	whole := propertytest.Check(t, 5000, func(t *rapid.T) {
		w := drawRuled(t)
		want, starts := w.outcomes()
		e, err := scheduler.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		m := w.tell()
		d := e.Cycle(make.Epoch.Add(time.Second), m)
		decision.Assume(m, &d)
		told := m.Gangs["default/g"].Status.Explanation
		if told == nil {
			if !starts || len(d.Binds) != w.members {
				t.Fatalf("%s%d pods are bound, and nothing is explained; want %v", w, len(d.Binds), want)
			}
			return
		}
		checkRuled(t, w, told, want)
		for _, n := range told.Nodes {
			named[n.Reason+" "+n.Detail]++
		}
	})
	t.Logf("named: %v", named)
	for _, reason := range []string{"PodAffinityMismatch affinity by zone", "PodAffinityMismatch anti-affinity by kubernetes.io/hostname",
		"PodAffinityMismatch anti-affinity of a running pod", "TopologySpread zone", "TopologySpread kubernetes.io/hostname"} {
		if whole && named[reason] == 0 {
			t.Errorf("%q was never said", reason)
		}
	}
}

// checkRuled compares an explanation with the sentences of the count. The fields must have the numbers of the sentence.
func checkRuled(t *rapid.T, w *ruledWorld, told *schedulingv1beta1.Explanation, want map[string]bool) {
	message, _, _ := strings.Cut(told.Message, "; did you mean")
	if !want[message] {
		t.Fatalf("%stold %s\nwant one of %q", w, message, slices.Sorted(maps.Keys(want)))
	}
	sum := int32(0)
	for _, n := range told.Nodes {
		sum += n.Count
		one := strings.TrimSpace(fmt.Sprintf("%d %s %s", n.Count, n.Reason, n.Detail))
		if !strings.Contains(message, one) && !strings.Contains(message, "no node has the label") {
			t.Fatalf("%s: the fields say %s", message, one)
		}
	}
	if fit := fmt.Sprintf(" %d of %d fit;", told.Members.Fit, w.members); w.members > 1 && !strings.Contains(message, fit) || int(sum) != len(w.nodes) {
		t.Fatalf("%s%s: %d of the nodes are counted, and the fields say%s", w, message, sum, fit)
	}
}
