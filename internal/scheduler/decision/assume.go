package decision

import "github.com/vc-batch/vc/internal/model"

// Assume updates the model as if the decisions had been carried out. Call it after every Cycle, before the next delta
// is applied.
func Assume(c *model.Cluster, d *Decisions) {
	for _, policy := range d.Shuffles {
		c.AssumeShuffled(policy, d.Now)
	}
	for i := range d.Evicts {
		c.AssumeEvicted(d.Evicts[i].Pod.UID, d.Evicts[i].Message)
		c.AssumeResourcesLost(d.Evicts[i].Gang.UID, d.Evicts[i].Preemptor.UID, d.Evicts[i].ShareLoss)
	}
	for i := range d.Nominations {
		c.AssumeNominated(d.Nominations[i].Pod.UID, d.Nominations[i].Node)
	}
	for i := range d.Ungates {
		c.AssumeUngated(d.Ungates[i].UID)
	}
	for i := range d.Binds {
		c.AssumeBound(d.Binds[i].Pod.UID, d.Binds[i].Node)
		c.AssumeAnnotated(d.Binds[i].Pod.UID, d.Binds[i].Annotations)
		if d.Binds[i].Attach != nil {
			assumeAttached(c, &d.Binds[i])
		}
	}
	for i := range d.Gangs {
		c.AssumeGangStatus(d.Gangs[i].Gang.UID, d.Gangs[i].Status, d.Now)
	}
	for i := range d.Gangs {
		if h := d.Gangs[i].HyperNode; h != nil {
			c.AssumeAllocatedHyperNode(d.Gangs[i].Gang.UID, *h)
		}
	}
	for i := range d.HyperNodes {
		h := &d.HyperNodes[i]
		c.AssumeHyperNodeStatus(h.HyperNode, model.HyperNodePublished{NodeCount: h.NodeCount, Ready: h.Ready, Decided: true})
	}
	for i := range d.PodConditions {
		p := &d.PodConditions[i]
		c.AssumePodCondition(p.Pod.UID, model.PodCondition{Reason: p.Reason, Message: p.Message})
	}
	for i := range d.Queues {
		q := &d.Queues[i]
		c.AssumeQueueStatus(q.Queue, q.Published(d.Now))
	}
	for i := range d.Lingering {
		c.AssumeLingering(d.Lingering[i].UID)
	}
	c.AssumeMissed(d.Now)
	c.AssumeUsage(d.Usage)
	c.AssumeBudgetUsage(d.BudgetUsage)
	c.RefreshAssumed()
}
