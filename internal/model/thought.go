package model

import "slices"

// KeepQueue is the change that makes a queue again what it is now, for who only thinks of another.
func (c *Cluster) KeepQueue(name string) Delta {
	q := c.Queues[name]
	if q == nil || !q.Known {
		return QueueGone{Name: name}
	}
	kept := *q
	kept.HasCapability = slices.Clone(q.HasCapability)
	return queueKept{kept}
}

// queueKept is a queue as it was, without its sums.
type queueKept struct{ queue Queue }

func (d queueKept) apply(c *Cluster) {
	q, was := c.queue(d.queue.Name), d.queue
	was.Sums, was.sums, was.Gangs = q.Sums, q.sums, q.Gangs
	*q = was
	q.Gen = c.next()
	c.QueueSetGen = c.next()
}

// TaskNamed finds a pod by its name; nil: there is none.
func (c *Cluster) TaskNamed(namespace, name string) *Task { return c.taskNames[namespace+"/"+name] }
