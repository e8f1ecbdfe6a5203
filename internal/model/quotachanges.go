package model

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/model/quota"
)

// QuotaFrom converts a ResourceQuota.
func QuotaFrom(q *corev1.ResourceQuota) QuotaSet { return QuotaSet{quota.From(q)} }

func (d QuotaSet) apply(c *Cluster) {
	of := slices.DeleteFunc(slices.Clone(c.Quotas[d.Namespace]), func(q quota.Quota) bool { return q.Name == d.Name })
	if len(d.Hard) > 0 {
		of = append(of, d.Quota)
	}
	slices.SortFunc(of, func(a, b quota.Quota) int { return strings.Compare(a.Name, b.Name) })
	c.setQuotas(d.Namespace, of)
}

func (d QuotaGone) apply(c *Cluster) {
	of := slices.DeleteFunc(slices.Clone(c.Quotas[d.Namespace]), func(q quota.Quota) bool { return q.Name == d.Name })
	c.setQuotas(d.Namespace, of)
}

func (c *Cluster) setQuotas(namespace string, of []quota.Quota) {
	if c.Quotas == nil {
		c.Quotas = map[string][]quota.Quota{}
	}
	ranks := quota.HaveClassScope(of) || quota.HaveClassScope(c.Quotas[namespace])
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

// QuotaSet adds or replaces a ResourceQuota.
type QuotaSet struct{ quota.Quota }

// QuotaGone removes a ResourceQuota.
type QuotaGone struct{ Namespace, Name string }
