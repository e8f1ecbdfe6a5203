package model

import (
	"slices"
	"strings"
)

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
