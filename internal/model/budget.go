package model

import (
	"slices"
	"strings"

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

func (d BudgetSet) apply(c *Cluster) {
	b := d.Budget
	c.Budgets[b.Key()] = &b
	c.BudgetGen = c.nextGeneration()
}

func (d BudgetGone) apply(c *Cluster) {
	key := d.Namespace + "/" + d.Name
	if _, known := c.Budgets[key]; known {
		delete(c.Budgets, key)
		c.BudgetGen = c.nextGeneration()
	}
}

// SortedBudgets returns the budgets sorted by namespace and name.
func (c *Cluster) SortedBudgets() []*Budget {
	list := make([]*Budget, 0, len(c.Budgets))
	for _, b := range c.Budgets {
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b *Budget) int { return strings.Compare(a.Key(), b.Key()) })
	return list
}
