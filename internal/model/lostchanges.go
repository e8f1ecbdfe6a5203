package model

import (
	"slices"
	"strings"
	"time"
)

// GangsWithLosses returns the gangs that have recently lost pods, sorted by name.
func (c *Cluster) GangsWithLosses() []*Gang {
	if len(c.bereft) == 0 {
		return nil
	}
	out := make([]*Gang, 0, len(c.bereft))
	for g := range c.bereft {
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b *Gang) int { return strings.Compare(a.Key(), b.Key()) })
	return out
}

// recordLost records that a gang's task no longer occupies its node. It ignores tasks that were not running or bound
// on a node, such as tasks that the scheduler evicted.
func (c *Cluster) recordLost(g *Gang, t *Task, was Status, node NodeID) {
	wasOnNode := node != NoNode && (was == Running || was == Bound)
	if g == nil || !g.Known || !wasOnNode {
		return
	}
	if len(g.Lost) >= g.MinMember {
		return
	}
	g.Lost = append(g.Lost, Lost{
		Task: &Task{Namespace: t.Namespace, Name: t.Name, Shape: &Shape{Request: t.Shape.Request}, Node: NoNode, assumedNode: NoNode, nodePos: -1, gangPos: -1},
		Node: c.Nodes.Name[node],
	})
	c.bereft[g] = true
}

// dropReplaced drops one of a gang's lost pods after the gang got a new pod on a node. It prefers a pod that was lost
// on the same node.
func (c *Cluster) dropReplaced(g *Gang, node string) {
	if len(g.Lost) == 0 {
		return
	}
	i := max(slices.IndexFunc(g.Lost, func(l Lost) bool { return l.Node == node }), 0)
	g.Lost = slices.Delete(g.Lost, i, i+1)
	c.dropIfNoneLost(g)
}

func (c *Cluster) dropIfNoneLost(g *Gang) {
	if len(g.Lost) == 0 {
		g.Lost = nil
		delete(c.bereft, g)
	}
}

// AssumeMissed sets the loss time of the pods that have been lost since the last cycle, and drops pods that were lost
// too long ago.
func (c *Cluster) AssumeMissed(now time.Time) {
	for g := range c.bereft {
		for i := range g.Lost {
			if g.Lost[i].Since.IsZero() {
				g.Lost[i].Since = now
			}
		}
		g.Lost = slices.DeleteFunc(g.Lost, func(l Lost) bool { return now.Sub(l.Since) >= forgetLost })
		c.dropIfNoneLost(g)
	}
}
