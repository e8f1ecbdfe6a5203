package model

import (
	"maps"

	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Gave records that a gang lost resources to another gang because of an order of shares. The zero value means that
// it did not.
//
// Orders of shares change when the gangs' allocations change. If a tier of priorities follows a tier of shares,
// three gangs could evict each other for ever: the first evicts the second by priority, the second evicts the third
// by its smaller share, and the third evicts the first by priority. Therefore, a gang that gave resources by shares
// takes nothing by a later tier while the gang that received them exists. Then all evictions end: at some point no
// further gang gives by shares, so gangs that may take by priority are evicted by priority only, and the first of
// them not at all. Orders of shares alone end by themselves.
type Gave struct {
	// Tier is the number of the tier that granted it plus one; 0 if unset.
	Tier int
	// Between is true if the receiving gang is in another queue.
	Between bool
}

// AssumeGave records to which gang a gang gave resources.
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

// GaveBefore reports whether a gang gave resources by an earlier tier than this one to a gang that still exists.
// between selects transfers between queues rather than inside one.
func (c *Cluster) GaveBefore(g *Gang, between bool, tier int) bool {
	for to, how := range g.gave {
		if how.Between == between && how.Tier <= tier && !c.gone(to) {
			return true
		}
	}
	return false
}

// gone reports whether a gang no longer exists or is completed.
func (c *Cluster) gone(uid types.UID) bool {
	g := c.gangUIDs[uid]
	return g == nil || g.Status.Phase == schedulingv1beta1.PodGroupCompleted
}

// HasGiven reports whether a gang ever gave resources by an order of shares.
func (g *Gang) HasGiven() bool { return len(g.gave) > 0 }
