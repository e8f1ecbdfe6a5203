package scheduler

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// changes holds what changed since the last cycle.
type changes struct {
	// resized is true if nodes were added, removed, resized, labelled or tainted.
	resized bool
	// regrouped is true if the network topology of the nodes changed.
	regrouped bool
	// attached is true if volumes or devices changed.
	attached bool
	// lingering is true if the set of deleted pods that do not terminate changed.
	lingering bool
	// quotas is true if quotas changed.
	quotas bool
	// overdue is the gang for which resources are reserved bit by bit, or nil; relieved is the gang that was overdue at
	// the last cycle, or nil.
	overdue, relieved *framework.Job
}

// detectChanges returns what changed since the last cycle, and stores the current state for the next one.
func (c *gangCache) detectChanges(s *cycle.Cycle) changes {
	nodes := nodesStamp{s.View.Epoch, s.Cluster.TotalGen, s.View.LabelsChanged}
	found := changes{
		resized:   nodes != c.nodes,
		regrouped: s.Tree.Topology != c.tree,
		attached:  s.Cluster.Attachable.Gen != c.attachable,
		lingering: s.Cluster.LingerGen != c.lingering,
		quotas:    s.Cluster.QuotaGen > c.seenQuotas,
		overdue:   s.FirstOverdue(),
		relieved:  c.overdue,
	}
	c.nodes, c.tree, c.overdue = nodes, s.Tree.Topology, found.overdue
	c.attachable, c.lingering = s.Cluster.Attachable.Gen, s.Cluster.LingerGen
	return found
}

// waker decides which parked gangs to try again.
type waker struct {
	gangs *gangCache
	cycle *cycle.Cycle
	changes
	// helped caches the results of GrownNodesHelp by shape.
	helped map[*model.Shape]bool
	// possible lists the wake-ups that are possible in this cycle.
	possible []wakeUp
}

// wakeUp is a condition under which a parked gang is tried again.
type wakeUp struct {
	name string
	// isPossible reports whether this condition can apply to any gang in the current cycle. It is nil if this depends
	// on the gang.
	isPossible func(w *waker) bool
	// wakes reports whether the condition applies to a gang.
	wakes func(w *waker, j *framework.Job) bool
}

// wakeUps lists all conditions under which a parked gang is tried again. The first one that applies counts.
var wakeUps = []wakeUp{
	{"everything changed", func(w *waker) bool { return w.cycle.WakeAll }, func(*waker, *framework.Job) bool { return true }},
	{"a limit of the gang's account may permit more", (*waker).hasAccountLimits, (*waker).accountRelaxed},
	{"another gang is overdue", func(w *waker) bool { return w.overdue != w.relieved },
		func(w *waker, j *framework.Job) bool { return j == w.overdue || j == w.relieved }},
	{"a reservation ended", nil, func(w *waker, j *framework.Job) bool { return w.cycle.OutlivedReservation(j) }},
	{"deleted pods changed", func(w *waker) bool { return w.lingering },
		func(_ *waker, j *framework.Job) bool { return len(j.ParkedShapes)+len(j.Reserved) > 0 }},
	{"node capacities changed", func(w *waker) bool { return w.resized }, func(_ *waker, j *framework.Job) bool { return j.IsSizeBound() }},
	{"the topology changed", func(w *waker) bool { return w.regrouped }, func(_ *waker, j *framework.Job) bool { return j.IsStructured() }},
	{"volumes or devices changed", func(w *waker) bool { return w.attached },
		func(w *waker, j *framework.Job) bool { return w.cycle.AttachStamp(j) != j.AttachStamp }},
	{"the gang's queue has more free resources", nil, (*waker).queueImproved},
	{"the limits of the gang's queue changed", nil, (*waker).limitsShifted},
	{"the cluster or its quota has more free resources", (*waker).clusterImproved, func(_ *waker, j *framework.Job) bool { return j.IsClusterBound() }},
	{"the time that the gang waits for has passed", nil, func(w *waker, j *framework.Job) bool { return w.cycle.ReachedOrRetryAt(j, j.DueAt) }},
	{"nodes have more free resources", (*waker).nodesTouched, (*waker).nodesHelp},
	{"resources are held for the gang", (*waker).nodesTouched, func(w *waker, j *framework.Job) bool { return w.cycle.MayUseHeld(j) }},
}

func (c *gangCache) newWaker(s *cycle.Cycle) *waker {
	w := &waker{gangs: c, cycle: s, changes: c.detectChanges(s), helped: map[*model.Shape]bool{}}
	w.findPossible()
	return w
}

// findPossible selects the wake-ups that are possible in this cycle, so that the others cost nothing per gang.
func (w *waker) findPossible() {
	for _, u := range wakeUps {
		if u.isPossible == nil || u.isPossible(w) {
			w.possible = append(w.possible, u)
		}
	}
}

// wakeUpReason returns the name of the first wake-up that applies to a parked gang, or "".
func (w *waker) wakeUpReason(j *framework.Job) string {
	if !w.cycle.WakeAll && w.isHeldAtAdmission(j) {
		return w.reasonToAdmit(j)
	}
	for i := range w.possible {
		if w.possible[i].wakes(w, j) {
			return w.possible[i].name
		}
	}
	return ""
}

// hasAccountLimits reports whether limits of accounts hold back gangs.
func (w *waker) hasAccountLimits() bool { return len(w.cycle.Rules.Relaxed) > 0 }

// isHeldAtAdmission reports whether a limit of a gang's account holds the gang back from its queue.
func (w *waker) isHeldAtAdmission(j *framework.Job) bool {
	return w.hasAccountLimits() && !j.IsAdmitted() && j.IsAccountBound()
}

// reasonToAdmit is like wakeUpReason for a gang that a limit of its account holds back from its queue. More free
// resources do not help it.
func (w *waker) reasonToAdmit(j *framework.Job) string {
	switch {
	case w.cycle.Rules.MayBeRelaxed(j):
		return "a limit of the gang's account may permit more"
	case !w.cycle.Ledger.Of(j.Gang.Queue).AcceptsGangs():
		return "the gang's queue does not accept gangs"
	}
	return ""
}

// accountRelaxed reports whether a limit of an admitted gang's account may permit more. The gang may have several shapes:
// nodes may hold back one of them, and the account another.
func (w *waker) accountRelaxed(j *framework.Job) bool {
	return j.IsAdmitted() && w.cycle.Rules.MayBeRelaxed(j)
}

func (w *waker) queueImproved(j *framework.Job) bool {
	return w.gangs.stamps[j.In].version != j.QueueStamp && j.IsQueueBound()
}

// limitsShifted reports whether the share or capacity of the gang's queue changed in either direction. This matters
// only to a gang with several parked shapes, because a different one of them may fit now.
func (w *waker) limitsShifted(j *framework.Job) bool {
	return w.gangs.stamps[j.In].shifted != j.ShiftStamp && len(j.ParkedShapes) > 1
}

// clusterImproved reports whether any queue, node or quota may have more free capacity.
func (w *waker) clusterImproved() bool { return w.gangs.stirred || w.cycle.View.Touched || w.quotas }

// nodesTouched reports whether nodes or their pods changed.
func (w *waker) nodesTouched() bool { return w.cycle.View.Touched }

// nodesHelp reports whether a node that has more free resources than before could run one of the gang's tasks.
func (w *waker) nodesHelp(j *framework.Job) bool {
	for _, shape := range j.ParkedShapes {
		help, known := w.helped[shape]
		if !known {
			help = w.cycle.GrownNodesHelp(shape)
			w.helped[shape] = help
		}
		if help {
			return true
		}
	}
	return false
}
