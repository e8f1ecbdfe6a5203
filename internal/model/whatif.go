package model

import "slices"

// QueueRestoringDelta returns a delta that restores the queue's current state after a what-if change.
func (c *Cluster) QueueRestoringDelta(name string) Delta {
	q := c.Queues[name]
	if q == nil || !q.Known {
		return QueueGone{Name: name}
	}
	kept := *q
	kept.HasCapability = slices.Clone(q.HasCapability)
	return queueKept{kept}
}

// queueKept is a delta that restores a queue's state, except for its current sums.
type queueKept struct{ queue Queue }

func (d queueKept) apply(c *Cluster) {
	q, was := c.ensureQueue(d.queue.Name), d.queue
	was.Sums, was.sums, was.Gangs = q.Sums, q.sums, q.Gangs
	*q = was
	q.Gen = c.nextGeneration()
	c.QueueSetGen = c.nextGeneration()
}

// TaskNamed returns the pod with the given name; nil if it does not exist.
func (c *Cluster) TaskNamed(namespace, name string) *Task { return c.taskNames[namespace+"/"+name] }
