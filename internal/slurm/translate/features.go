package translate

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/usererror"
)

// ChangeFeatures replaces the features that the pods of a translated job require from their nodes. It keeps other
// requirements on nodes.
func ChangeFeatures(pod *corev1.PodSpec, p *profile.Profile, old, updated optionvalue.Features) error {
	b := &topic{source: &source{p: p}}
	if pod.Affinity == nil {
		pod.Affinity = &corev1.Affinity{}
	}
	if pod.Affinity.NodeAffinity == nil {
		pod.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	nodes := pod.Affinity.NodeAffinity
	var all []corev1.NodeSelectorRequirement
	if required := nodes.RequiredDuringSchedulingIgnoredDuringExecution; required != nil && len(required.NodeSelectorTerms) > 0 {
		all = required.NodeSelectorTerms[0].MatchExpressions
	}
	if len(old) > 0 {
		labels := b.labelRequirements(old[0])
		rest := len(all) - len(labels)
		if len(b.errs) > 0 || rest < 0 || !apiequality.Semantic.DeepEqual(all[rest:], labels) {
			return usererror.Errorf("cancel the job and submit it again with --constraint", "the job's features come from an earlier version of the site's profile")
		}
		all = all[:rest]
	}
	for _, feature := range slices.Concat(updated...) {
		if _, known := p.Features[feature]; !known {
			return unknownFeatureError("", p, feature)
		}
	}
	terms := b.selectorTerms(all, updated)
	nodes.RequiredDuringSchedulingIgnoredDuringExecution = nil
	if len(terms[0].MatchExpressions) > 0 {
		nodes.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: terms}
	}
	if apiequality.Semantic.DeepEqual(*nodes, corev1.NodeAffinity{}) {
		pod.Affinity.NodeAffinity = nil
	}
	if *pod.Affinity == (corev1.Affinity{}) {
		pod.Affinity = nil
	}
	return nil
}

// selectorTerms returns the node selector terms for features. Each term contains the requirements in all, and the
// labels for one list of features.
func (b *topic) selectorTerms(all []corev1.NodeSelectorRequirement, features optionvalue.Features) []corev1.NodeSelectorTerm {
	if len(features) == 0 {
		return []corev1.NodeSelectorTerm{{MatchExpressions: all}}
	}
	var terms []corev1.NodeSelectorTerm
	for _, list := range features {
		terms = append(terms, corev1.NodeSelectorTerm{MatchExpressions: append(slices.Clone(all), b.labelRequirements(list)...)})
	}
	return terms
}

// labelRequirements returns requirements for the labels to which the profile maps the features.
func (b *topic) labelRequirements(features []string) []corev1.NodeSelectorRequirement {
	var all []corev1.NodeSelectorRequirement
	for _, feature := range features {
		labels, known := b.p.Features[feature]
		if !known {
			b.addError(unknownFeatureError("Batch job submission failed: ", b.p, feature))
			continue
		}
		all = append(all, toRequirements(labels)...)
	}
	return all
}

// unknownFeatureError returns the error for a feature that the profile does not define. Its message begins with about.
func unknownFeatureError(about string, p *profile.Profile, feature string) error {
	hint := "the site's profile defines no features (node labels)"
	if len(p.Features) > 0 {
		hint = "features: " + joinWords(slices.Sorted(maps.Keys(p.Features)))
	}
	return usererror.Errorf(hint, "%sInvalid feature specification: %s", about, feature)
}

// toRequirements converts labels to requirements. The value of a label may be a comma-separated list of alternatives.
func toRequirements(labels map[string]string) []corev1.NodeSelectorRequirement {
	var all []corev1.NodeSelectorRequirement
	for key, value := range labels {
		all = append(all, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: strings.Split(value, ",")})
	}
	slices.SortFunc(all, func(a, b corev1.NodeSelectorRequirement) int { return strings.Compare(a.Key, b.Key) })
	return all
}
