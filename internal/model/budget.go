package model

import (
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Budget is a PodDisruptionBudget: how many of its pods may go by somebody's will.
type Budget struct {
	Namespace, Name string
	// Selector says which pods it is about. A selector that names nothing selects all of the
	// namespace, a missing one none, as in policy/v1.
	Selector labels.Selector
	// Allowed is how many more may go, Desired how many have to stay healthy, as the disruption
	// controller said last.
	Allowed, Desired int
	// Disrupted are pods that were counted as gone before they were, by name.
	Disrupted []string
}

// Key is namespace/name.
func (b *Budget) Key() string { return b.Namespace + "/" + b.Name }

// Covers says whether a pod counts in the budget.
func (b *Budget) Covers(t *Task) bool {
	return t.Namespace == b.Namespace && b.Selector.Matches(labels.Set(t.Labels)) && !slices.Contains(b.Disrupted, t.Name)
}

// BudgetSet adds or replaces a PodDisruptionBudget.
type BudgetSet struct{ Budget }

// BudgetGone removes a PodDisruptionBudget.
type BudgetGone struct{ Namespace, Name string }

// BudgetFrom reads a PodDisruptionBudget. A selector that cannot be read selects
// none: so says the disruption controller too.
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
	c.BudgetGen = c.next()
}

func (d BudgetGone) apply(c *Cluster) {
	key := d.Namespace + "/" + d.Name
	if _, known := c.Budgets[key]; known {
		delete(c.Budgets, key)
		c.BudgetGen = c.next()
	}
}

// SortedBudgets are the budgets by namespace and name.
func (c *Cluster) SortedBudgets() []*Budget {
	list := make([]*Budget, 0, len(c.Budgets))
	for _, b := range c.Budgets {
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b *Budget) int { return strings.Compare(a.Key(), b.Key()) })
	return list
}
