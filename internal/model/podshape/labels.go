package podshape

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// selfSelectedLabels returns the labels of a pod that its own affinity and spread rules use to select pods. Other
// labels, such as the pod's number in its job, are omitted, because otherwise every pod would get its own shape. The
// rules of other pods are matched against the complete labels of each pod.
func selfSelectedLabels(s *Spec, labels map[string]string) map[string]string {
	var own map[string]string
	keep := func(key string) {
		value, has := labels[key]
		if !has {
			return
		}
		if own == nil {
			own = map[string]string{}
		}
		own[key] = value
	}
	eachSelector(s, func(selector *metav1.LabelSelector) {
		if selector == nil {
			return
		}
		for key := range selector.MatchLabels {
			keep(key)
		}
		for i := range selector.MatchExpressions {
			keep(selector.MatchExpressions[i].Key)
		}
	})
	for i := range s.Spread {
		for _, key := range s.Spread[i].MatchLabelKeys {
			keep(key)
		}
	}
	return own
}

// eachSelector calls visit for the label selectors in the shape's affinity and spread rules.
func eachSelector(s *Spec, visit func(*metav1.LabelSelector)) {
	terms := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			visit(required[i].LabelSelector)
		}
		for i := range preferred {
			visit(preferred[i].PodAffinityTerm.LabelSelector)
		}
	}
	if a := s.PodAffinity; a != nil {
		terms(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := s.PodAntiAffinity; a != nil {
		terms(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	for i := range s.Spread {
		visit(s.Spread[i].LabelSelector)
	}
}
