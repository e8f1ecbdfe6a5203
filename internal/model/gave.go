package model

import (
	"maps"

	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Gave says that a gang gave room to another by an order of shares. The zero value: it did not.
//
// Orders of shares move with what gangs hold. Where a tier of priorities comes after one of shares, three gangs could go round for
// ever: one takes from the second by priority, that from the third by its smaller share, and the third from the first by
// priority. So who gave by shares takes nothing by a later tier as long as the gang is there that it gave to. Then all evictions
// come to an end: sooner or later nobody gives by shares who has not given before, so that those who may take by priority are
// never evicted but by priority, the first of them not at all; and orders of shares alone come to an end by themselves.
type Gave struct {
	// Tier is one more than the number of the tier that granted it, 0: none.
	Tier int
	// Between: to another queue's gang.
	Between bool
}

// AssumeGave notes to whom a gang gave room.
func (c *Cluster) AssumeGave(gang, to types.UID, how Gave) {
	g := c.gangUIDs[gang]
	if g == nil || how.Tier == 0 || gang == to {
		return
	}
	if g.gave == nil {
		g.gave = map[types.UID]Gave{}
	}
	maps.DeleteFunc(g.gave, func(to types.UID, _ Gave) bool { return c.gone(to) })
	if before, again := g.gave[to]; !again || before.Between != how.Between || how.Tier < before.Tier {
		g.gave[to] = how
	}
}

// GaveBefore says whether a gang gave room, inside its queue or between queues, by a tier before this one, to a gang that is there still.
func (c *Cluster) GaveBefore(g *Gang, between bool, tier int) bool {
	for to, how := range g.gave {
		if how.Between == between && how.Tier <= tier && !c.gone(to) {
			return true
		}
	}
	return false
}

// gone says whether a gang is no longer there, or has come to its end.
func (c *Cluster) gone(uid types.UID) bool {
	g := c.gangUIDs[uid]
	return g == nil || g.Status.Phase == schedulingv1beta1.PodGroupCompleted
}

// HasGiven says whether a gang gave room by an order of shares at all.
func (g *Gang) HasGiven() bool { return len(g.gave) > 0 }
