package model

import schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"

func (c *Cluster) ensureQueue(name string) *Queue {
	if q := c.Queues[name]; q != nil {
		return q
	}
	q := &Queue{Name: name}
	c.Queues[name] = q
	c.QueueSetGen = c.nextGeneration()
	return q
}

func (d QueueSet) apply(c *Cluster) {
	q := c.ensureQueue(d.Name)
	observed := QueuePublished{
		Allocated: d.Status.Allocated, Deserved: d.Status.Deserved, Terminating: d.Status.Terminating, SharePercent: d.Status.Share, Waiting: d.Status.Waiting,
		Invalid: (&schedulingv1beta1.Queue{Status: d.Status}).Invalid(),
	}
	if q.Published.Decided && q.UID == d.UID {
		q.Published.Unconfirmed = !observed.IsSameStatus(&q.Published)
	} else {
		q.Published = observed
	}
	q.Known, q.UID, q.Created = true, d.UID, d.Created
	q.Weight, q.SaidWeight, q.Priority = max(d.Weight, 1), d.Weight, d.Priority
	q.Reclaimable, q.Open, q.State, q.Parent, q.Fifo = d.Reclaimable, d.Open, d.State, d.Parent, d.Fifo
	q.Capability = c.Resources.Request(d.Capability)
	q.HasCapability = q.HasCapability[:0]
	for _, a := range d.Capability {
		q.HasCapability = append(q.HasCapability, int32(c.Resources.Index(string(a.Name))))
	}
	q.Guarantee = c.Resources.Request(d.Guarantee)
	q.Deserved = c.Resources.Request(d.Deserved)
	q.Annotations, q.Affinity = d.Annotations, d.Affinity
	c.widenNodes()
	q.Gen = c.nextGeneration()
	c.QueueSetGen = c.nextGeneration()
}

func (d QueueGone) apply(c *Cluster) {
	q := c.Queues[d.Name]
	if q == nil || !q.Known {
		return
	}
	q.Known, q.Open = false, false
	q.Gen = c.nextGeneration()
	c.QueueSetGen = c.nextGeneration()
	c.refreshQueues() // gangs may have been deleted by the same call of Apply
	if q.Gangs == 0 && !c.isReferenced(q) {
		delete(c.Queues, d.Name)
	}
}

// isReferenced reports whether a gang names the queue.
func (c *Cluster) isReferenced(q *Queue) bool {
	for _, g := range c.Gangs {
		if g.Queue == q {
			return true
		}
	}
	return false
}

func (d PriorityClassSet) apply(c *Cluster) {
	c.classes[d.Name] = d
	c.updatePriorities("")
}

func (d PriorityClassGone) apply(c *Cluster) {
	delete(c.classes, d.Name)
	c.updatePriorities("")
}

// classPriority returns the value of a priority class. If name is "" or the class does not exist, it returns the
// global default.
func (c *Cluster) classPriority(name string) int32 {
	if class, ok := c.classes[name]; ok && name != "" {
		return class.Value
	}
	return c.defaultPriority()
}

func (c *Cluster) defaultPriority() int32 {
	best, found := int32(0), false
	for _, class := range c.classes {
		// If several classes are the global default, the API server uses the lowest value.
		if class.GlobalDefault && (!found || class.Value < best) {
			best, found = class.Value, true
		}
	}
	return best
}
