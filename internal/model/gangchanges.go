package model

import (
	"maps"
	"slices"
	"time"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model/resource"
)

// ensureGang returns the gang with the given name. If the gang does not exist, ensureGang adds an unknown gang.
func (c *Cluster) ensureGang(namespace, name string) *Gang {
	key := namespace + "/" + name
	if g := c.Gangs[key]; g != nil {
		return g
	}
	g := &Gang{Namespace: namespace, Name: name}
	c.Gangs[key] = g
	return g
}

func (c *Cluster) dropUnknownGang(g *Gang) {
	if !g.Known && len(g.Tasks) == 0 && c.Gangs[g.Key()] == g {
		delete(c.Gangs, g.Key())
	}
}

func (d GangSet) apply(c *Cluster) {
	g := c.ensureGang(d.Namespace, d.Name)
	if g.Known && g.UID != d.UID { // re-created under the same name
		g.ours, g.unwritten, g.unconfirmed = false, false, false
		g.Status, g.StatusAt = schedulingv1beta1.PodGroupStatus{}, time.Time{}
		delete(c.gangUIDs, g.UID)
		g.Lost, g.shareLosses = nil, nil
		c.dropIfNoneLost(g)
	}
	g.Known, g.UID, g.Created, g.Job = true, d.UID, d.Created, d.Job
	c.gangUIDs[d.UID] = g
	queue := d.Queue
	if queue == "" {
		queue = c.DefaultQueue
	}
	if q := c.ensureQueue(queue); g.Queue != q {
		g.Queue = q
	}
	g.MinMember, g.MinTaskMember = d.MinMember, d.MinTaskMember
	g.User, g.Account, g.QOS, g.QuotaResources = d.User, d.Account, d.QOS, d.QuotaResources
	g.MinResources, g.HasMinResources = c.Resources.Request(d.MinResources), d.HasMinResources
	g.TaskRequests = nil
	for _, task := range slices.Sorted(maps.Keys(d.TaskRequests)) {
		if g.TaskRequests == nil {
			g.TaskRequests = map[string]resource.Request{}
		}
		g.TaskRequests[task] = c.Resources.Request(d.TaskRequests[task])
	}
	c.setPlacements(g, d.TaskPlacements)
	c.widenNodes()
	g.PriorityClass, g.Annotations, g.Preemptable = d.PriorityClass, d.Annotations, d.Preemptable
	c.countRunTimes(g.Estimate > 0, -1)
	if g.Estimate != d.Estimate {
		c.EstimateGen = c.nextGeneration()
	}
	g.Estimate, g.TimeLimit = d.Estimate, d.TimeLimit
	c.countRunTimes(g.Estimate > 0, 1)
	g.Topology, g.SubGroups = d.Topology, d.SubGroups
	c.setGangPriority(g)
	if g.ours {
		g.unconfirmed = !isSameGangStatus(&d.Status, &g.Status)
	} else {
		g.Status = d.Status
	}
	g.Spec = c.nextGeneration()
	c.markGangChanged(g)
}

func (d GangGone) apply(c *Cluster) {
	g := c.Gangs[d.Namespace+"/"+d.Name]
	if g == nil || !g.Known {
		return
	}
	if d.UID != "" && d.UID != g.UID {
		return
	}
	delete(c.gangUIDs, g.UID)
	g.Known, g.ours, g.unwritten, g.unconfirmed = false, false, false, false
	g.UID = ""
	c.setPlacements(g, nil)
	c.countRunTimes(g.Estimate > 0, -1)
	if g.Estimate > 0 {
		c.EstimateGen = c.nextGeneration()
	}
	g.Estimate, g.Lost = 0, nil
	c.dropIfNoneLost(g)
	g.Spec = c.nextGeneration()
	c.markGangChanged(g)
	for _, t := range g.Tasks {
		if t.Status == Pipelined {
			c.moveTaskTo(t, NoNode, Pending)
		}
	}
	c.dropUnknownGang(g)
}

// countTaskInGang adds a task to the gang's counts and sums, or removes it if sign is -1.
func (c *Cluster) countTaskInGang(g *Gang, t *Task, sign int) {
	g.Count[t.Status] += sign
	if !t.Status.HasEnded() {
		t.Shape.inQueues += sign
	}
	switch {
	case t.Status.IsAllocated() || t.Status == Pipelined:
		g.held.AddRequest(t.Shape.Request, int64(sign))
		if t.Status == Pipelined {
			g.promised.AddRequest(t.Shape.Request, int64(sign))
		}
	case t.Status == Releasing && t.Node != NoNode:
		g.leaving.AddRequest(t.Shape.Request, int64(sign))
	case t.Status.CountsOnNode() && t.Node != NoNode:
		g.lingering.AddRequest(t.Shape.Request, int64(sign))
	case t.Status == Pending && t.Gated:
		g.Gated += sign
		if t.QueueGated && !t.Shape.Impossible { // the pod needs part of its queue's share
			g.asked.AddRequest(t.Shape.Request, int64(sign))
		}
	case t.Status == Pending:
		if t.Shape.BestEffort {
			g.PendingBestEffort += sign
		}
		if !t.Shape.Impossible {
			g.asked.AddRequest(t.Shape.Request, int64(sign))
		}
	}
	c.markGangChanged(g)
}

// markGangChanged marks a gang as changed, so that its queue's sums and its status are recomputed.
func (c *Cluster) markGangChanged(g *Gang) {
	g.Gen = c.nextGeneration()
	if !g.Known {
		c.orphans[g] = true
	}
	if !g.stale {
		g.stale = true
		c.stale = append(c.stale, g)
	}
	c.gangLog.add(g, g.Gen)
}

// refreshQueues updates the sums of queues for the gangs that have changed.
func (c *Cluster) refreshQueues() {
	for _, g := range c.stale {
		g.stale = false
		c.countPlacements(g, g.isAwaitingPods())
		c.countUndescribed(g)
		if g.Known && g.PriorityClass != "" {
			c.setGangPriority(g) // the priority depends on its pods
		}
		if g.queued != nil {
			g.queued.sums.add(&g.contributed, -1)
			g.queued.sums.writeAllTo(&g.queued.Sums)
			if g.member {
				g.queued.Gangs--
			}
			g.queued.Gen = c.nextGeneration()
			g.queued = nil
		}
		if !g.computeContribution() {
			continue
		}
		q := g.Queue
		q.sums.add(&g.contributed, 1)
		q.sums.writeAllTo(&q.Sums)
		if g.member = g.Known; g.member {
			q.Gangs++
		}
		q.Gen = c.nextGeneration()
		g.queued = q
	}
	c.stale = c.stale[:0]
	for _, id := range c.dead {
		c.recycleRow(id)
	}
	c.dead = c.dead[:0]
}
