package resourcegroup

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/vc-batch/vc/api/keys"
)

// ApplyFirstGroup changes a pod in a namespace according to the first group that it belongs to.
func (c *Config) ApplyFirstGroup(pod *corev1.Pod, namespace string) {
	for i := range c.Groups {
		if g := &c.Groups[i]; g.containsPod(pod, namespace) {
			g.applyToPod(pod)
			return
		}
	}
}

// containsPod reports whether a pod belongs to the group.
func (g *Group) containsPod(pod *corev1.Pod, namespace string) bool {
	if g.Object.Key == byNamespace {
		return slices.Contains(g.Object.Value, namespace)
	}
	for _, wanted := range g.annotations {
		for key, value := range wanted {
			if is, ok := pod.Annotations[key]; ok && is == value {
				return true
			}
		}
	}
	return g.Object.Key == "" && pod.Annotations[keys.ResourceGroup] == g.Name
}

func (g *Group) applyToPod(pod *corev1.Pod) {
	if len(g.Labels) > 0 {
		if pod.Spec.NodeSelector == nil {
			pod.Spec.NodeSelector = map[string]string{}
		}
		maps.Copy(pod.Spec.NodeSelector, g.Labels)
	}
	if pod.Spec.Affinity == nil && g.affinity != nil {
		pod.Spec.Affinity = g.affinity.DeepCopy()
	}
	for _, toleration := range g.Tolerations {
		if !slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return apiequality.Semantic.DeepEqual(t, toleration) }) {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, *toleration.DeepCopy())
		}
	}
	if g.SchedulerName != "" {
		pod.Spec.SchedulerName = g.SchedulerName
	}
}

// Condition returns a CEL expression that matches every pod that belongs to any group. It returns "" if there are no
// groups.
func (c *Config) Condition() string {
	var namespaces, terms []string
	for i := range c.Groups {
		g := &c.Groups[i]
		if g.Object.Key == byNamespace {
			namespaces = append(namespaces, g.Object.Value...)
			continue
		}
		for _, wanted := range g.annotations {
			for _, key := range slices.Sorted(maps.Keys(wanted)) {
				terms = append(terms, annotationTerm(key, wanted[key]))
			}
		}
		if g.Object.Key == "" {
			terms = append(terms, annotationTerm(keys.ResourceGroup, g.Name))
		}
	}
	if len(namespaces) > 0 {
		quoted := make([]string, len(namespaces))
		for i, namespace := range namespaces {
			quoted[i] = fmt.Sprintf("%q", namespace)
		}
		terms = append(terms, fmt.Sprintf("request.namespace in [%s]", strings.Join(quoted, ", ")))
	}
	return strings.Join(terms, " || ")
}

// annotationTerm returns a CEL expression that matches objects with this annotation.
func annotationTerm(key, value string) string {
	return fmt.Sprintf("object.metadata.?annotations[?%q] == optional.of(%q)", key, value)
}
