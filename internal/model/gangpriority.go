package model

import "github.com/vc-batch/vc/internal/model/quota"

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
	if !system && !quota.HaveClassScope(quotas) {
		return
	}
	for _, t := range g.Tasks {
		if t.Status.HasEnded() || (!system && !quota.DistinguishClasses(quotas, g.PriorityClass, t.PriorityClass)) {
			continue
		}
		if own := c.classPriority(t.PriorityClass); own < g.Priority {
			g.Priority, g.Capped = own, true
		}
	}
}

// updatePriorities updates the priorities of all gangs in a namespace ("" for all namespaces), and marks each gang
// whose priority has changed.
func (c *Cluster) updatePriorities(namespace string) {
	for _, g := range c.Gangs {
		if !g.Known || (namespace != "" && g.Namespace != namespace) {
			continue
		}
		before := g.Priority
		if c.setGangPriority(g); g.Priority != before {
			c.markGangChanged(g)
		}
	}
}
