package model

import (
	"slices"
	"strings"
	"time"
)

// Lost is a pod that a gang lost while it ran. Its room may be kept for the one
// that takes its place.
type Lost struct {
	// Task has the pod's name and its request, and nothing else of it: ports are not kept.
	Task *Task
	Node string
	// Since is when it was missed; zero: since the last cycle.
	Since time.Time
}

// forgetLost is after which time a lost pod is forgotten, whatever is kept.
const forgetLost = time.Hour

// Bereft lists the gangs that lost pods not long ago, by name.
func (c *Cluster) Bereft() []*Gang {
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

// lose notes that a task of a gang, which held a node, does so no more; it was not
// evicted for another.
func (c *Cluster) lose(g *Gang, t *Task, was Status, node NodeID) {
	if g == nil || !g.Known || was != Running && was != Bound || node == NoNode || len(g.Lost) >= g.MinMember {
		return
	}
	g.Lost = append(g.Lost, Lost{
		Task: &Task{Namespace: t.Namespace, Name: t.Name, Shape: &Shape{Request: t.Shape.Request}, Node: NoNode, assumedNode: NoNode, nodePos: -1, gangPos: -1},
		Node: c.Nodes.Name[node],
	})
	c.bereft[g] = true
}

// replace forgets one lost pod of a gang that got a new one on a node: one of that
// node, if there is any.
func (c *Cluster) replace(g *Gang, node string) {
	if len(g.Lost) == 0 {
		return
	}
	i := max(slices.IndexFunc(g.Lost, func(l Lost) bool { return l.Node == node }), 0)
	g.Lost = slices.Delete(g.Lost, i, i+1)
	c.keepLost(g)
}

func (c *Cluster) keepLost(g *Gang) {
	if len(g.Lost) == 0 {
		g.Lost = nil
		delete(c.bereft, g)
	}
}

// AssumeMissed notes when pods that were lost since the last cycle were missed.
func (c *Cluster) AssumeMissed(now time.Time) {
	for g := range c.bereft {
		for i := range g.Lost {
			if g.Lost[i].Since.IsZero() {
				g.Lost[i].Since = now
			}
		}
		g.Lost = slices.DeleteFunc(g.Lost, func(l Lost) bool { return now.Sub(l.Since) >= forgetLost })
		c.keepLost(g)
	}
}
