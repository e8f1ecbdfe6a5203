package model

import (
	"slices"
	"strings"
)

func (d QuotaSet) apply(c *Cluster) {
	of := slices.DeleteFunc(slices.Clone(c.Quotas[d.Namespace]), func(q Quota) bool { return q.Name == d.Name })
	if len(d.Hard) > 0 {
		of = append(of, d.Quota)
	}
	slices.SortFunc(of, func(a, b Quota) int { return strings.Compare(a.Name, b.Name) })
	c.setQuotas(d.Namespace, of)
}

func (d QuotaGone) apply(c *Cluster) {
	of := slices.DeleteFunc(slices.Clone(c.Quotas[d.Namespace]), func(q Quota) bool { return q.Name == d.Name })
	c.setQuotas(d.Namespace, of)
}

func (c *Cluster) setQuotas(namespace string, of []Quota) {
	if c.Quotas == nil {
		c.Quotas = map[string][]Quota{}
	}
	ranks := haveClassScope(of) || haveClassScope(c.Quotas[namespace])
	if len(of) == 0 {
		delete(c.Quotas, namespace)
	} else {
		c.Quotas[namespace] = of
	}
	c.QuotaGen = c.nextGeneration()
	if ranks {
		c.updatePriorities(namespace)
	}
}
