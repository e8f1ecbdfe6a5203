package model

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// lingerAfter is how long a pod may still exist after its deletion deadline. By then, the kubelet has killed the
// containers, but still has to unmount the volumes.
const lingerAfter = 30 * time.Second

// LingeringStart returns the time from which a pod that is being deleted no longer counts as about to end. If the pod
// still exists then, a finalizer or a lost node is preventing its deletion.
func (t *Task) LingeringStart() time.Time { return t.LeavesBy.Add(lingerAfter) }

// VisitLeaving calls visit for the pods that are being deleted and have not reached their deadline, in no particular
// order.
func (c *Cluster) VisitLeaving(visit func(*Task)) {
	for t := range c.leaving {
		visit(t)
	}
}

// LingeringTasks returns the pods that should have ended but still exist, sorted by namespace and name.
func (c *Cluster) LingeringTasks() []*Task {
	out := make([]*Task, 0, len(c.lingering))
	for t := range c.lingering {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *Task) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return out
}

// AssumeLingering records that a pod has not ended in time. Its resources count as used until it ends or is deleted
// with another deadline.
func (c *Cluster) AssumeLingering(uid types.UID) {
	if t := c.tasks[uid]; t != nil && t.Status == Releasing {
		t.lingers = t.LeavesBy
		c.moveTaskTo(t, t.Node, Lingering)
	}
}

// trackLeaving adds a task on a node to c.leaving or c.lingering, or removes it from both.
func (c *Cluster) trackLeaving(t *Task, in bool) {
	switch {
	case !in:
		if delete(c.leaving, t); c.lingering[t] {
			delete(c.lingering, t)
			c.LingerGen = c.nextGeneration()
		}
	case t.Status == Releasing && !t.LeavesBy.IsZero():
		c.leaving[t] = true
	case t.Status == Lingering:
		c.lingering[t] = true
		c.LingerGen = c.nextGeneration()
	}
}
