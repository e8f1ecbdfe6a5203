package whatif

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestLabelKeysAreInTheSelectorAsTheServerPutsThemThere(t *testing.T) {
	t.Parallel()
	template := &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		LabelSelector: &metav1.LabelSelector{}, MatchLabelKeys: []string{"part", "missing"}, MismatchLabelKeys: []string{"team"}}}}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"part": "3", "team": "nlp"}}, Spec: corev1.PodSpec{Affinity: template}}
	mergeLabelKeys(pod)
	want := []metav1.LabelSelectorRequirement{{Key: "part", Operator: metav1.LabelSelectorOpIn, Values: []string{"3"}}, {Key: "team", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"nlp"}}}
	got := pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(template.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions) > 0 {
		t.Error("the template of other pods is changed")
	}
	mergeLabelKeys(&corev1.Pod{})
}
