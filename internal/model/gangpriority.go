package model

import corev1 "k8s.io/api/core/v1"

// highestOfUsers is the highest priority that a class outside the system classes can have.
const highestOfUsers = 1_000_000_000

// setGangPriority sets the gang's priority. It is the priority of its PodGroup's class, limited by the pods' own
// priorities if Kubernetes would not allow the pods to use that class.
//
// The API server checks the priority classes of pods against quotas that are scoped to classes, but it does not check
// the classes of PodGroups. Therefore, system classes, and classes that a ResourceQuota of the namespace treats
// differently from the pods' classes, are limited to the lowest priority of the gang's pods.
func (c *Cluster) setGangPriority(g *Gang) {
	g.Priority, g.Capped = c.classPriority(g.PriorityClass), false
	if g.PriorityClass == "" {
		return
	}
	quotas := c.Quotas[g.Namespace]
	system := g.Priority > highestOfUsers
	if !system && !haveClassScope(quotas) {
		return
	}
	for _, t := range g.Tasks {
		if t.Status.HasEnded() || !system && !distinguishClasses(quotas, g.PriorityClass, t.PriorityClass) {
			continue
		}
		if own := c.classPriority(t.PriorityClass); own < g.Priority {
			g.Priority, g.Capped = own, true
		}
	}
}

// distinguishClasses reports whether a quota covers pods of the PodGroup's class but not pods of another pod's class.
func distinguishClasses(quotas []Quota, ofGroup, ofPod string) bool {
	for i := range quotas {
		for k := range quotas[i].Scopes {
			s := &quotas[i].Scopes[k]
			if s.Name == corev1.ResourceQuotaScopePriorityClass && s.selectsClass(ofGroup) && !s.selectsClass(ofPod) {
				return true
			}
		}
	}
	return false
}

// updatePriorities updates the priorities of all gangs in a namespace ("" for all namespaces), and marks each gang
// whose priority changed.
func (c *Cluster) updatePriorities(namespace string) {
	for _, g := range c.Gangs {
		if !g.Known || namespace != "" && g.Namespace != namespace {
			continue
		}
		before := g.Priority
		if c.setGangPriority(g); g.Priority != before {
			c.markGangChanged(g)
		}
	}
}

// haveClassScope reports whether any of the quotas is scoped by priority class.
func haveClassScope(quotas []Quota) bool {
	for i := range quotas {
		for _, s := range quotas[i].Scopes {
			if s.Name == corev1.ResourceQuotaScopePriorityClass {
				return true
			}
		}
	}
	return false
}
