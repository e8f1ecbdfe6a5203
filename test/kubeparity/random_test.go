package kubeparity

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

// dice draws the parts of a random cluster. It uses few names and values, so that rules often match pods.
type dice struct {
	rand *rand.Rand
	made int
}

// newDice draws only a seed with rapid. The numbers that rapid itself draws are mostly small, which would make most
// rules equal.
func newDice(t *rapid.T) *dice {
	return &dice{rand: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))}
}

func (d *dice) n(limit int) int           { return d.rand.IntN(limit) }
func (d *dice) often() bool               { return d.n(4) > 0 }
func (d *dice) seldom() bool              { return d.n(4) == 0 }
func (d *dice) of(list ...string) string  { return list[d.n(len(list))] }
func (d *dice) name(prefix string) string { d.made++; return fmt.Sprintf("%s%d", prefix, d.made) }

var (
	namespaces = []string{"red", "blue", "green"}
	topologies = []string{corev1.LabelHostname, "zone", "rack"}
)

func (d *dice) namespace(name string) *corev1.Namespace {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": d.of("one", "two")}}}
	if d.seldom() {
		n.Labels = nil
	}
	return n
}

func (d *dice) node(name string) *corev1.Node {
	labels := map[string]string{corev1.LabelHostname: name}
	if d.often() {
		labels["zone"] = d.of("a", "b", "c")
	}
	if d.often() {
		labels["rack"] = d.of("1", "2", "3", "4")
	}
	if d.often() {
		labels["level"] = d.of("1", "5", "9", "high")
	}
	if d.n(12) == 0 {
		delete(labels, corev1.LabelHostname)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	node.Spec.Unschedulable = d.n(10) == 0
	for range d.n(3) {
		if d.seldom() {
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: d.of("t", "u", "level"), Value: d.of("", "x", "5"),
				Effect: corev1.TaintEffect(d.of("NoSchedule", "NoExecute", "PreferNoSchedule"))})
		}
	}
	node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(d.of("2", "4", "8")), corev1.ResourceMemory: resource.MustParse(d.of("4Gi", "8Gi")),
		corev1.ResourcePods: resource.MustParse(d.of("3", "110")),
	}
	if d.seldom() {
		node.Status.Allocatable["nvidia.com/gpu"] = resource.MustParse(d.of("1", "4"))
	}
	for _, image := range []string{"big:latest", "small:v1"} {
		if d.seldom() {
			node.Status.Images = append(node.Status.Images, corev1.ContainerImage{Names: []string{image}, SizeBytes: map[string]int64{"big:latest": 900 << 20, "small:v1": 60 << 20}[image]})
		}
	}
	node.Status.Capacity = node.Status.Allocatable
	return node
}

func (d *dice) labels() map[string]string {
	labels := map[string]string{}
	for _, key := range []string{"app", "tier"} {
		if d.often() {
			labels[key] = d.of("x", "y", "z")
		}
	}
	labels["number"] = fmt.Sprint(d.made)
	return labels
}

func (d *dice) selector() *metav1.LabelSelector {
	switch d.n(8) {
	case 0:
		return nil
	case 1:
		return &metav1.LabelSelector{}
	case 2:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: d.of("app", "tier"), Operator: metav1.LabelSelectorOperator(d.of("In", "NotIn")), Values: []string{d.of("x", "y"), d.of("y", "z")}},
		}}
	case 3:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: d.of("app", "tier"), Operator: metav1.LabelSelectorOperator(d.of("Exists", "DoesNotExist"))},
		}}
	}
	s := &metav1.LabelSelector{MatchLabels: map[string]string{d.of("app", "tier"): d.of("x", "y", "z")}}
	if d.seldom() {
		s.MatchLabels["tier"] = d.of("x", "y")
	}
	return s
}

func (d *dice) term() corev1.PodAffinityTerm {
	term := corev1.PodAffinityTerm{TopologyKey: d.of(topologies...), LabelSelector: d.selector()}
	if d.seldom() {
		term.Namespaces = []string{d.of(namespaces...)}
	}
	switch d.n(8) {
	case 0:
		term.NamespaceSelector = &metav1.LabelSelector{}
	case 1:
		term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": d.of("one", "two")}}
	case 2:
		// NotIn and DoesNotExist are excluded: kube-scheduler's plugin in version 1.36 treats them as all namespaces if
		// it has already listed the namespaces.
		term.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: metav1.LabelSelectorOpExists}}}
	}
	return term
}

func (d *dice) terms(most int) (terms []corev1.PodAffinityTerm) {
	for range d.n(most + 1) {
		terms = append(terms, d.term())
	}
	return terms
}

func (d *dice) weighted(most int) (terms []corev1.WeightedPodAffinityTerm) {
	for range d.n(most + 1) {
		terms = append(terms, corev1.WeightedPodAffinityTerm{Weight: int32(1 + d.n(3)), PodAffinityTerm: d.term()})
	}
	return terms
}

func (d *dice) nodeSelectorTerm() corev1.NodeSelectorTerm {
	var term corev1.NodeSelectorTerm
	for range d.n(3) {
		r := corev1.NodeSelectorRequirement{Key: d.of("zone", "rack", "level"), Operator: corev1.NodeSelectorOperator(d.of("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))}
		switch r.Operator {
		case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
			r.Key, r.Values = "level", []string{d.of("1", "4", "8")}
		case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
			r.Values = []string{d.of("a", "1", "5"), d.of("b", "2", "9")}
		}
		term.MatchExpressions = append(term.MatchExpressions, r)
	}
	if d.n(6) == 0 {
		term.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOperator(d.of("In", "NotIn")), Values: []string{d.of("n0", "n1", "n2")}}}
	}
	return term
}

func (d *dice) spread() corev1.TopologySpreadConstraint {
	c := corev1.TopologySpreadConstraint{
		MaxSkew: int32(1 + d.n(2)), TopologyKey: d.of(topologies...), WhenUnsatisfiable: corev1.UnsatisfiableConstraintAction(d.of("DoNotSchedule", "ScheduleAnyway")),
		LabelSelector: d.selector(),
	}
	if d.seldom() && c.WhenUnsatisfiable == corev1.DoNotSchedule {
		c.MinDomains = ptr.To(int32(1 + d.n(4)))
	}
	policies := []corev1.NodeInclusionPolicy{corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore}
	if d.seldom() {
		c.NodeAffinityPolicy = ptr.To(policies[d.n(2)])
	}
	if d.seldom() {
		c.NodeTaintsPolicy = ptr.To(policies[d.n(2)])
	}
	if d.seldom() && c.LabelSelector != nil {
		c.MatchLabelKeys = []string{d.of("app", "tier", "missing")}
	}
	return c
}

// pod draws a pod. on is its node, or "" for a pending pod.
func (d *dice) pod(on string) *corev1.Pod {
	name := d.name("p")
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: d.of(namespaces...), UID: types.UID(name), Labels: d.labels()}}
	p.Spec.NodeName, p.Status.Phase = on, corev1.PodPending
	if on != "" {
		p.Status.Phase = corev1.PodRunning
		if d.n(8) == 0 {
			p.DeletionTimestamp = &metav1.Time{}
		}
	}
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(d.of("100m", "500m", "1")), corev1.ResourceMemory: resource.MustParse(d.of("100Mi", "1Gi"))}
	if d.n(8) == 0 {
		requests["nvidia.com/gpu"] = resource.MustParse("1")
	}
	container := corev1.Container{Name: "c", Image: d.of("big", "small:v1", "other"), Resources: corev1.ResourceRequirements{Requests: requests, Limits: corev1.ResourceList{}}}
	if d.n(6) == 0 {
		container.Ports = []corev1.ContainerPort{{HostPort: int32(80 + d.n(2)), Protocol: corev1.Protocol(d.of("TCP", "UDP")), HostIP: d.of("", "10.0.0.1", "10.0.0.2", "0.0.0.0")}}
	}
	p.Spec.Containers = []corev1.Container{container}
	if d.n(6) == 0 {
		p.Spec.InitContainers = []corev1.Container{{Name: "i", Image: d.of("big", "other"), Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("10Mi"),
		}}}}
	}
	if d.n(6) == 0 {
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: d.of("big", "small:v1", "other")}}}}
	}
	d.rules(p)
	return p
}

// replica returns a copy of a pod with another name, like the pods of one job.
func (d *dice) replica(of *corev1.Pod) *corev1.Pod {
	p := of.DeepCopy()
	p.Name = d.name("p")
	p.UID = types.UID(p.Name)
	p.Labels["number"] = p.Name
	return p
}

// rules adds selectors, tolerations, affinity and spread constraints to a pod.
func (d *dice) rules(p *corev1.Pod) {
	if d.n(6) == 0 {
		p.Spec.NodeSelector = map[string]string{"zone": d.of("a", "b")}
	}
	for range d.n(3) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: d.of("", "t", "u", "level"), Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffect(d.of("", "NoSchedule", "NoExecute"))})
		if k := &p.Spec.Tolerations[len(p.Spec.Tolerations)-1]; k.Key != "" && d.often() {
			k.Operator, k.Value = corev1.TolerationOperator(d.of("", "Equal", "Gt", "Lt")), d.of("x", "5", "1")
		}
	}
	if d.seldom() {
		return
	}
	a := &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}, PodAntiAffinity: &corev1.PodAntiAffinity{}}
	if d.seldom() {
		a.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{d.nodeSelectorTerm()}}}
		if d.seldom() {
			list := &a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
			*list = append(*list, d.nodeSelectorTerm())
		}
	}
	if d.n(3) == 0 {
		if a.NodeAffinity == nil {
			a.NodeAffinity = &corev1.NodeAffinity{}
		}
		for range 1 + d.n(3) {
			a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
				corev1.PreferredSchedulingTerm{Weight: int32(1 + d.n(100)), Preference: d.nodeSelectorTerm()})
		}
	}
	if d.n(3) == 0 {
		a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = d.terms(2)
	}
	if d.n(3) == 0 {
		a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = d.terms(2)
	}
	if d.seldom() {
		a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = d.weighted(2)
	}
	if d.seldom() {
		a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = d.weighted(2)
	}
	p.Spec.Affinity = a
	if d.n(3) == 0 {
		for range 1 + d.n(2) {
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, d.spread())
		}
	}
}
