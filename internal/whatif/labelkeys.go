package whatif

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mergeLabelKeys merges matchLabelKeys and mismatchLabelKeys of affinity terms into the terms' selectors, using the
// pod's own labels. The API server does the same when a pod is created, so the scheduler reads only the selectors.
func mergeLabelKeys(pod *corev1.Pod) {
	a := pod.Spec.Affinity
	if a == nil || (a.PodAffinity == nil && a.PodAntiAffinity == nil) {
		return
	}
	a = a.DeepCopy() // the affinity is shared with the template
	pod.Spec.Affinity = a
	var terms []*corev1.PodAffinityTerm
	gather := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			terms = append(terms, &required[i])
		}
		for i := range preferred {
			terms = append(terms, &preferred[i].PodAffinityTerm)
		}
	}
	if to := a.PodAffinity; to != nil {
		gather(to.RequiredDuringSchedulingIgnoredDuringExecution, to.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if from := a.PodAntiAffinity; from != nil {
		gather(from.RequiredDuringSchedulingIgnoredDuringExecution, from.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	for _, term := range terms {
		if term.LabelSelector == nil {
			continue
		}
		for _, key := range slices.Concat(term.MatchLabelKeys, term.MismatchLabelKeys) {
			value, has := pod.Labels[key]
			if !has {
				continue
			}
			operator := metav1.LabelSelectorOpIn
			if slices.Contains(term.MismatchLabelKeys, key) {
				operator = metav1.LabelSelectorOpNotIn
			}
			term.LabelSelector.MatchExpressions = append(term.LabelSelector.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}})
		}
	}
}
