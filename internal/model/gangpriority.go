package model

import corev1 "k8s.io/api/core/v1"

// highestOfUsers is the highest priority of a class that is not of the system.
const highestOfUsers = 1_000_000_000

// rank sets the gang's priority: that of its PodGroup's class, bounded by its pods' own where Kubernetes would not let
// them have that class for the asking.
//
// The API server checks the classes of pods, against quotas that are scoped to classes, and not those of PodGroups. So
// a class of the system, and one that a ResourceQuota of the namespace tells from that of the pods, count only as far
// as every pod of the gang has a class as high.
func (c *Cluster) rank(g *Gang) {
	g.Priority, g.Capped = c.classPriority(g.PriorityClass), false
	if g.PriorityClass == "" {
		return
	}
	quotas := c.Quotas[g.Namespace]
	system := g.Priority > highestOfUsers
	if !system && !aboutClasses(quotas) {
		return
	}
	for _, t := range g.Tasks {
		if t.Status.Ended() || !system && !tellApart(quotas, g.PriorityClass, t.PriorityClass) {
			continue
		}
		if own := c.classPriority(t.PriorityClass); own < g.Priority {
			g.Priority, g.Capped = own, true
		}
	}
}

// tellApart reports whether some quota is about pods of the class of a PodGroup and not about those of another.
func tellApart(quotas []Quota, ofGroup, ofPod string) bool {
	for i := range quotas {
		for k := range quotas[i].Scopes {
			s := &quotas[i].Scopes[k]
			if s.Name == corev1.ResourceQuotaScopePriorityClass && s.selects(ofGroup) && !s.selects(ofPod) {
				return true
			}
		}
	}
	return false
}

// rankAll ranks the gangs of a namespace, "" for all, and marks those whose priority changes.
func (c *Cluster) rankAll(namespace string) {
	for _, g := range c.Gangs {
		if !g.Known || namespace != "" && g.Namespace != namespace {
			continue
		}
		before := g.Priority
		if c.rank(g); g.Priority != before {
			c.touchGang(g)
		}
	}
}

// aboutClasses reports whether any of some quotas is about priority classes.
func aboutClasses(quotas []Quota) bool {
	for i := range quotas {
		for _, s := range quotas[i].Scopes {
			if s.Name == corev1.ResourceQuotaScopePriorityClass {
				return true
			}
		}
	}
	return false
}
