package model

import (
	"maps"

	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// ShareLoss describes how a gang lost resources to another gang because of an order of shares. The zero value means
// that the gang has not lost resources in this way.
//
// Orders of shares change when the gangs' allocations change. If a tier of priorities follows a tier of shares, three
// gangs could evict each other forever: the first evicts the second by priority, the second evicts the third because
// of its smaller share, and the third evicts the first by priority. Therefore, a gang that lost resources because of
// shares takes nothing through a later tier while the gang that received the resources exists. This ensures that
// evictions end: at some point, no further gang loses resources because of shares. The gangs that may then still
// evict by priority are themselves evicted only by priority, and the first of them is not evicted at all. Orders of
// shares alone cannot cause endless evictions.
type ShareLoss struct {
	// Tier is the number of the tier that granted the eviction, plus one; 0 if unset.
	Tier int
	// Between is true if the receiving gang is in another queue.
	Between bool
}

// AssumeResourcesLost records that a gang lost resources to another gang.
func (c *Cluster) AssumeResourcesLost(gang, to types.UID, how ShareLoss) {
	g := c.gangUIDs[gang]
	if g == nil || how.Tier == 0 || gang == to {
		return
	}
	if g.shareLosses == nil {
		g.shareLosses = map[types.UID]ShareLoss{}
	}
	maps.DeleteFunc(g.shareLosses, func(to types.UID, _ ShareLoss) bool { return c.isGangGone(to) })
	if before, again := g.shareLosses[to]; !again || before.Between != how.Between || how.Tier < before.Tier {
		g.shareLosses[to] = how
	}
}

// LostToEarlierTier reports whether a gang lost resources through a tier before the given one to a gang that still
// exists. If between is true, it considers evictions between queues, otherwise evictions inside a queue.
func (c *Cluster) LostToEarlierTier(g *Gang, between bool, tier int) bool {
	for to, how := range g.shareLosses {
		if how.Between == between && how.Tier <= tier && !c.isGangGone(to) {
			return true
		}
	}
	return false
}

// isGangGone reports whether a gang no longer exists or has completed.
func (c *Cluster) isGangGone(uid types.UID) bool {
	g := c.gangUIDs[uid]
	return g == nil || g.Status.Phase == schedulingv1beta1.PodGroupCompleted
}

// HasLostByShare reports whether the gang has lost resources because another gang or queue had a smaller share.
func (g *Gang) HasLostByShare() bool { return len(g.shareLosses) > 0 }
