package scenarios

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// wishes adds a preference to a pod, which improves the score of nodes:
//
//	prefer:KEY=WEIGHT   pods with its own labels in the same domain
//	avoid:KEY=WEIGHT    pods with its own labels in other domains
//	wish:LABEL=VALUE    a node with a label
//	softspread:KEY=SKEW a soft spread constraint
//	image=NAME          the image of its container
func (w *world) wishes(p *corev1.Pod, a *corev1.Affinity, kind, key, value string) {
	weighted := func() []corev1.WeightedPodAffinityTerm {
		return []corev1.WeightedPodAffinityTerm{{Weight: int32(number(w, value)), PodAffinityTerm: terms(p.Labels, key)[0]}}
	}
	switch kind {
	case "prefer":
		a.PodAffinity = &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted()}
	case "avoid":
		a.PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted()}
	case "wish":
		a.NodeAffinity = &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
			Weight:     1,
			Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}}},
		}}}
	case "softspread":
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: int32(number(w, value)), TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels},
		})
	case "image":
		p.Spec.Containers[0].Image = value
	}
}

// image adds an image of a size in bytes to a node.
func image(n *corev1.Node, name, size string) {
	quantity := resource.MustParse(size)
	n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: []string{name}, SizeBytes: quantity.Value()})
}
