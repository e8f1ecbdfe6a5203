package model

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// lingerAfter is how long after the deadline of its deletion a pod may still take
// to end: the kubelet has killed its containers by then, and unmounts.
const lingerAfter = 30 * time.Second

// LingersAt is when a pod that is being deleted, and is still there, no longer
// counts as ending: something holds it, a finalizer or a node that is gone.
func (t *Task) LingersAt() time.Time { return t.LeavesBy.Add(lingerAfter) }

// Leaving visits the pods that are being deleted until a known time, in no order.
func (c *Cluster) Leaving(visit func(*Task)) {
	for t := range c.leaving {
		visit(t)
	}
}

// Lingering lists the pods that should have ended and have not, by name.
func (c *Cluster) Lingering() []*Task {
	out := make([]*Task, 0, len(c.lingering))
	for t := range c.lingering {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *Task) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return out
}

// AssumeLingering notes that a pod's time to end is over: what it holds counts as
// held, until it has ended or is deleted with another deadline.
func (c *Cluster) AssumeLingering(uid types.UID) {
	if t := c.tasks[uid]; t != nil && t.Status == Releasing {
		t.lingers = t.LeavesBy
		c.place(t, t.Node, Lingering)
	}
}

// trackLeaving enters a task on a node into the lists above, or takes it out.
func (c *Cluster) trackLeaving(t *Task, in bool) {
	switch {
	case !in:
		if delete(c.leaving, t); c.lingering[t] {
			delete(c.lingering, t)
			c.LingerGen = c.next()
		}
	case t.Status == Releasing && !t.LeavesBy.IsZero():
		c.leaving[t] = true
	case t.Status == Lingering:
		c.lingering[t] = true
		c.LingerGen = c.next()
	}
}
