package model

import (
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Budget is a PodDisruptionBudget, which limits how many of its pods may be evicted.
type Budget struct {
	Namespace, Name string
	// Selector selects the budget's pods. As in policy/v1, an empty selector selects all pods of the namespace, and a
	// missing selector selects none.
	Selector labels.Selector
	// Allowed is the number of additional pods that may be evicted, and Desired the number of pods that must stay
	// healthy, both as last reported by the disruption controller.
	Allowed, Desired int
	// Disrupted lists the names of pods whose eviction is already counted although they still exist.
	Disrupted []string
}

// Key returns namespace/name.
func (b *Budget) Key() string { return b.Namespace + "/" + b.Name }

// Covers reports whether a pod belongs to the budget.
func (b *Budget) Covers(t *Task) bool {
	return t.Namespace == b.Namespace && b.Selector.Matches(labels.Set(t.Labels)) && !slices.Contains(b.Disrupted, t.Name)
}

// BudgetSet adds or replaces a PodDisruptionBudget.
type BudgetSet struct{ Budget }

// BudgetGone removes a PodDisruptionBudget.
type BudgetGone struct{ Namespace, Name string }

// BudgetFrom converts a PodDisruptionBudget. Like the disruption controller, it treats an invalid selector as
// selecting no pods.
func BudgetFrom(p *policyv1.PodDisruptionBudget) BudgetSet {
	b := Budget{
		Namespace: p.Namespace, Name: p.Name, Selector: labels.Nothing(),
		Allowed: int(p.Status.DisruptionsAllowed), Desired: int(p.Status.DesiredHealthy),
	}
	if selector, err := metav1.LabelSelectorAsSelector(p.Spec.Selector); err == nil {
		b.Selector = selector
	}
	for name := range p.Status.DisruptedPods {
		b.Disrupted = append(b.Disrupted, name)
	}
	slices.Sort(b.Disrupted)
	return BudgetSet{b}
}
