package kubeparity

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/quota/v1/evaluator/core"
	"k8s.io/utils/clock"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/quota"
	"github.com/vc-batch/vc/test/propertytest"
)

// quotaPod draws a pod with the properties that quota scopes select.
func quotaPod(t *rapid.T) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "p"}}
	pod.Spec.PriorityClassName = rapid.SampledFrom([]string{"", "low", "high"}).Draw(t, "class")
	if rapid.Bool().Draw(t, "limited") {
		seconds := rapid.Int64Range(1, 100).Draw(t, "seconds")
		pod.Spec.ActiveDeadlineSeconds = &seconds
	}
	some := func(label string) corev1.ResourceList {
		list := corev1.ResourceList{}
		for _, name := range []corev1.ResourceName{"cpu", "memory", "nvidia.com/gpu", "ephemeral-storage"} {
			if rapid.IntRange(0, 3).Draw(t, label+string(name)) == 0 {
				list[name] = resource.MustParse(rapid.SampledFrom([]string{"0", "1", "2"}).Draw(t, "amount"))
			}
		}
		return list
	}
	c := corev1.Container{Name: "c", Resources: corev1.ResourceRequirements{Requests: some("requests "), Limits: some("limits ")}}
	for name, limit := range c.Resources.Limits { // as the API server does for missing requests
		if _, given := c.Resources.Requests[name]; !given {
			c.Resources.Requests[name] = limit
		}
	}
	pod.Spec.Containers = []corev1.Container{c}
	if rapid.Bool().Draw(t, "init") {
		pod.Spec.Containers, pod.Spec.InitContainers = []corev1.Container{{Name: "main"}}, []corev1.Container{c}
	}
	pod.Spec.Affinity = quotaAffinity(t)
	return pod
}

func quotaAffinity(t *rapid.T) *corev1.Affinity {
	term := corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}
	switch rapid.IntRange(0, 2).Draw(t, "namespaces") {
	case 0:
		term.Namespaces = []string{"other"}
	case 1:
		term.NamespaceSelector = &metav1.LabelSelector{}
	}
	soft := []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term}}
	switch rapid.IntRange(0, 4).Draw(t, "affinity") {
	case 0:
		return &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
	case 1:
		return &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: soft}}
	case 2:
		return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
	case 3:
		return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: soft}}
	}
	return nil
}

// quotaFor draws a quota with scopes that the API server accepts.
func quotaFor(t *rapid.T) *corev1.ResourceQuota {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "q"}}
	q.Spec.Hard = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}
	q.Status.Hard = q.Spec.Hard
	for _, scope := range []corev1.ResourceQuotaScope{
		corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeBestEffort,
		corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeCrossNamespacePodAffinity,
	} {
		if rapid.IntRange(0, 3).Draw(t, string(scope)) > 0 {
			continue
		}
		term := corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists}
		if scope == corev1.ResourceQuotaScopePriorityClass {
			term.Operator = rapid.SampledFrom([]corev1.ScopeSelectorOperator{
				corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist, corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn,
			}).Draw(t, "operator")
			if slices.Contains([]corev1.ScopeSelectorOperator{corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn}, term.Operator) {
				term.Values = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"low", "high", "other"}), 1, 2, rapid.ID[string]).Draw(t, "values")
			}
		}
		if q.Spec.ScopeSelector != nil || rapid.Bool().Draw(t, "selector") || term.Operator != corev1.ScopeSelectorOpExists {
			if q.Spec.ScopeSelector == nil {
				q.Spec.ScopeSelector = &corev1.ScopeSelector{}
			}
			q.Spec.ScopeSelector.MatchExpressions = append(q.Spec.ScopeSelector.MatchExpressions, term)
			continue
		}
		q.Spec.Scopes = append(q.Spec.Scopes, scope)
	}
	return q
}

// TestQuotaScopesAgree compares which pods a quota covers with the result of Kubernetes' own evaluator.
func TestQuotaScopesAgree(t *testing.T) {
	evaluator := core.NewPodEvaluator(nil, clock.RealClock{})
	covered, not := 0, 0
	whole := propertytest.Check(t, 5000, func(t *rapid.T) {
		pod, object := quotaPod(t), quotaFor(t)
		want, err := evaluator.Matches(object, pod)
		if err != nil {
			t.Fatal(err)
		}
		m := model.New()
		m.Apply(model.TaskFrom(pod, true), model.QuotaFrom(object))
		traits := m.Task(pod.UID).PodTraits()
		got := m.Quotas["ns"][0].Covers(&traits)
		if got == quota.NotKnown || (got == quota.Yes) != want {
			t.Fatalf("Kubernetes says %v, we say %d\n%+v\n%+v", want, got, object.Spec, traits)
		}
		if want {
			covered++
		} else {
			not++
		}
	})
	tooFew := covered < 100 || not < 100
	if whole && tooFew {
		t.Errorf("%d pods were covered, %d not: too few to say anything", covered, not)
	}
}
