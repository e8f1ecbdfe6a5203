package scheduler

import (
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/reservation"
)

// gangCache stores the gangs between cycles: which of them are waiting, and which are parked because no change could
// help them. It saves only work: an engine with an empty gangCache makes the same decisions.
type gangCache struct {
	jobs    map[*model.Gang]*framework.Job
	ranks   uint64                       // the last Rank given to a gang
	waiting []*framework.Job             // gangs that need more than they have, in no particular order
	at      map[*framework.Job]int       // position in waiting
	dirty   []*framework.Job             // gangs that differ from the model because of placements tried in the last cycle
	due     map[*framework.Job]time.Time // when to report the gang again
	arrived time.Time                    // when a gang last got additional pods

	lastCycle
	estimates
	reports
	lapses

	advices map[*framework.Job]advice
	// loose holds the time at which each pod was first found to have no PodGroup. looseAt is the time of the last
	// check.
	loose   map[*model.Task]time.Time
	looseAt time.Time
	// refreshedAt is when parked gangs were last tried again to update the numbers in their explanations. outdated is
	// true if nodes or their pods have changed since then.
	refreshedAt time.Time
	outdated    bool
}

// lastCycle holds the state at the last cycle, which is used to detect changes.
type lastCycle struct {
	seen       uint64                 // generation of the model
	stamps     map[*queue.Queue]stamp // state of the queues
	reclaim    uint64
	budgets    uint64     // generation of the disruption budgets
	seenQuotas uint64     // generation of the quotas
	gates      uint64     // generation of the tasks at queues' gates
	stirred    bool       // some queue has more free capacity than at the last cycle
	nodes      nodesStamp // state of the nodes
	tree       *model.Topology
	lingering  uint64 // generation of the lingering pods
	attachable uint64 // generation of volumes and devices
	// overdue is the gang for which resources were reserved bit by bit, or nil if there was no such gang.
	overdue *framework.Job
}

// estimates holds the expected start times of the waiting gangs.
type estimates struct {
	// forecasts holds the forecasts of the waiting gangs. The next forecast is made at forecastAt if owesForecast
	// is true.
	forecasts    map[*framework.Job]reservation.Forecast
	forecastAt   time.Time
	owesForecast bool
	// firstStarts holds the first start time that was reported for each waiting gang.
	firstStarts map[*framework.Job]time.Time
}

// reports holds the figures that were last reported to metrics.
type reports struct {
	// countedAt is when the waiting gangs were last counted by queue. uncounted is true if gangs have changed since
	// then.
	countedAt time.Time
	uncounted bool
	// lastFigures holds the last reported figures of each gang. goneFigures lists the gangs with reported figures whose
	// deletion is yet to be reported.
	lastFigures map[*framework.Job]gangFigures
	goneFigures []decision.Object
}

// lapses holds the promises that did not count at the last cycle.
type lapses struct {
	// lapsed holds the queues' reservations that did not count. inVain holds the gangs that had passed their queue's
	// gate and could not start. eased holds the queues in which either of them has increased.
	lapsed map[*queue.Queue][]float64
	inVain map[*framework.Job]bool
	eased  map[*queue.Queue]bool
}

// nodesStamp changes with the number, sizes, labels and taints of nodes, which decide whether a pod is too large
// for all of them.
type nodesStamp struct{ epoch, total, labels uint64 }

// stamp is the state of a queue at the end of the last cycle. If the queue has more free capacity now, its gangs are
// tried again.
type stamp struct {
	version            uint64
	shifted            uint64 // counts changes to deserved and capacity in either direction
	known, open        bool
	allocated, inqueue []float64 // lower values leave more free capacity
	occupied           []float64
	deserved, capacity []float64 // higher values leave more free capacity
	elastic            []float64
	gen                uint64
	fault              string
	refused            bool    // the queue rejected a gang in one of its descendants
	eased              bool    // the queue then held less than when its gangs were tried
	figures            figures // last reported to metrics
}

// isImproved reports whether a queue may admit or start more than at the last cycle.
func (old *stamp) isImproved(q *queue.Queue) bool {
	switch {
	case old.version == 0, old.eased, old.fault != q.Fault, old.known != q.Known, old.open != q.Open:
		return true
	case isLessForAny(q.Allocated, old.allocated), isLessForAny(q.Inqueue, old.inqueue), isLessForAny(q.Occupied, old.occupied):
		return true // its gangs hold less
	case isLessForAny(old.deserved, q.Deserved), isLessForAny(old.capacity, q.RealCapability), isLessForAny(old.elastic, q.Elastic):
		return true // its limits rose
	}
	return false
}

func (c *gangCache) reset() {
	c.jobs = map[*model.Gang]*framework.Job{}
	c.at = map[*framework.Job]int{}
	c.stamps = map[*queue.Queue]stamp{}
	c.due = map[*framework.Job]time.Time{}
	c.eased = map[*queue.Queue]bool{}
	c.lastFigures = map[*framework.Job]gangFigures{}
	c.advices, c.firstStarts = map[*framework.Job]advice{}, map[*framework.Job]time.Time{}
}

func (c *gangCache) jobOfGang(g *model.Gang) *framework.Job { return c.jobs[g] }

// updateGangs updates the gangs from the model and fills the session with the gangs to try.
func (c *gangCache) updateGangs(s *cycle.Cycle) {
	look := func(g *model.Gang) { c.loadGang(s, g) }
	for _, j := range c.dirty {
		j.ForceReload()
		look(j.Gang)
	}
	c.dirty = c.dirty[:0]
	clear(c.eased)
	if c.seen == 0 || !s.Cluster.GangsSince(c.seen, look) {
		for g := range c.jobs {
			look(g)
		}
		for _, g := range s.Cluster.Gangs {
			look(g)
		}
	}
	c.seen = s.Cluster.Gen()
	s.HoldForRecovery()
	s.AllWaiting = c.waiting
	c.updateLapsed(s)
	c.easeInVainQueues(s)
	c.updateQueueVersions(s)
	c.wakeParkedGangs(s)
}

// loadGang loads one gang that may have changed.
func (c *gangCache) loadGang(s *cycle.Cycle, g *model.Gang) {
	j := c.jobs[g]
	if !g.Known {
		if j != nil {
			c.removeWaiting(j)
			delete(c.jobs, g)
			delete(c.due, j)
			delete(c.advices, j)
			delete(c.forecasts, j)
			delete(c.firstStarts, j)
			c.recordDeleted(j)
		}
		return
	}
	if j == nil {
		c.ranks++
		j = &framework.Job{Gang: g, Rank: c.ranks}
		c.jobs[g] = j
	}
	if j.Touched {
		return // already loaded in this update, because no other code touches a job before
	}
	s.LoadJob(j)
	if len(j.Tasks) > j.TasksSeen {
		c.arrived = s.Now
	}
	j.TasksSeen = len(j.Tasks)
	s.Touch(j)
	j.Parked = false
	if j.NeedsAnything() {
		c.addWaiting(j)
	} else {
		j.ClearVerdict()
		c.removeWaiting(j)
	}
}

func (c *gangCache) addWaiting(j *framework.Job) {
	if _, in := c.at[j]; !in {
		c.at[j] = len(c.waiting)
		c.waiting = append(c.waiting, j)
	}
}

func (c *gangCache) removeWaiting(j *framework.Job) {
	i, in := c.at[j]
	if !in {
		return
	}
	last := len(c.waiting) - 1
	c.waiting[i] = c.waiting[last]
	c.at[c.waiting[i]] = i
	c.waiting[last] = nil
	c.waiting = c.waiting[:last]
	delete(c.at, j)
}

// updateQueueVersions increments the version of every queue that may have more free capacity than before.
func (c *gangCache) updateQueueVersions(s *cycle.Cycle) {
	if len(s.View.Grown) > 0 {
		c.reclaim++ // with more free resources, fewer victims may be enough
	}
	if c.budgets != s.Cluster.BudgetGen { // more evictions may be allowed than before
		c.budgets = s.Cluster.BudgetGen
		c.reclaim++
	}
	gates := c.gates != s.Cluster.QueueGateGen // less may be reserved for pods that passed the gate
	c.gates = s.Cluster.QueueGateGen
	c.stirred = false
	raised := map[*queue.Queue]bool{}
	for _, q := range s.Ledger.TopDown { // free capacity of an ancestor helps its descendants
		old := c.stamps[q]
		if old.gen != q.Gen {
			c.reclaim++
			old.gen = q.Gen
		}
		if len(old.deserved) > 0 && (limitsDiffer(q.Deserved, old.deserved) || limitsDiffer(q.RealCapability, old.capacity)) {
			old.shifted++
		}
		anyEased := gates || c.eased[q] // less is reserved, in all queues or in this one
		better := anyEased || raised[q.Parent] || old.isImproved(q)
		c.stirred = c.stirred || better
		if better {
			raised[q] = raised[q.Parent] || old.refused
			old.refused = false
			old.version++
			old.eased = false
		}
		if better || isLessForAny(q.Deserved, old.deserved) {
			c.reclaim++
		}
		c.stamps[q] = old
	}
	s.ReclaimStamp = c.reclaim
}

// storeQueueStates stores the state of the queues after the cycle.
func (c *gangCache) storeQueueStates(s *cycle.Cycle) {
	for _, q := range s.Ledger.Queues {
		old := c.stamps[q]
		old.eased = s.Eased[q]
		old.known, old.open, old.fault, old.refused = q.Known, q.Open, q.Fault, old.refused || q.Refused
		old.allocated = append(old.allocated[:0], q.Allocated...)
		old.occupied = append(old.occupied[:0], q.Occupied...)
		old.inqueue = append(old.inqueue[:0], q.Inqueue...)
		old.deserved = append(old.deserved[:0], q.Deserved...)
		old.capacity = append(old.capacity[:0], q.RealCapability...)
		old.elastic = append(old.elastic[:0], q.Elastic...)
		c.stamps[q] = old
	}
}

// limitsDiffer reports whether two limits differ.
func limitsDiffer(a, b []float64) bool { return isLessForAny(a, b) || isLessForAny(b, a) }

// isLessForAny reports whether a is less than b for any resource, or differs in length.
func isLessForAny(a, b []float64) bool {
	for i := range min(len(a), len(b)) {
		if a[i] < b[i]-queue.Epsilon {
			return true
		}
	}
	return len(a) != len(b)
}

// wakeParkedGangs adds the gangs to try to the session. It skips a parked gang unless a change could help it, such as
// more free resources on a node that could run one of its tasks, or a change to its queue or to the node sizes.
func (c *gangCache) wakeParkedGangs(s *cycle.Cycle) {
	w := c.newWaker(s)
	for _, j := range c.waiting {
		if j.Parked && w.wakeUpReason(j) != "" {
			j.Parked = false
		}
		if !j.Parked {
			s.RefreshQueue(j)
			j.DueAt = time.Time{}
			s.Ready = append(s.Ready, j)
		} else if !j.DueAt.IsZero() {
			s.Out.WakeAt = earlierTime(s.Out.WakeAt, j.DueAt)
		}
	}
	if s.View.Touched || len(s.Ready) > 0 {
		c.wakeSelected(s, func(j *framework.Job) bool { return j.Unsettled })
	}
	if s.MayFreeHeld() {
		c.wakeSelected(s, func(j *framework.Job) bool { return len(j.ParkedShapes) > 0 })
	}
	c.retryFrontGangs(s)
	s.AllWaiting, c.seenQuotas = c.waiting, s.Cluster.QuotaGen
	for j, at := range c.due {
		if !s.Now.Before(at) {
			delete(c.due, j)
			s.Touch(j)
		}
	}
}

// retryFrontGangs makes the parked gangs at the front of their queues ready again if nodes or their pods have changed,
// at most once per numbersEvery. The retry does not start these gangs but keeps their explanations correct: an
// explanation contains how many of the gang's pods fit and which resources are free, and a decrease of these numbers
// does not wake the gang.
func (c *gangCache) retryFrontGangs(s *cycle.Cycle) {
	c.outdated = c.outdated || s.View.Touched
	if !c.outdated || len(c.waiting) == 0 {
		return
	}
	if at := c.refreshedAt.Add(numbersEvery); s.Now.Before(at) {
		s.WakeAt(at)
		return
	}
	c.refreshedAt, c.outdated = s.Now, false
	inFront := frontGangs(s)
	c.wakeSelected(s, func(j *framework.Job) bool { return inFront[j] && j.IsQueueBound() })
}

// wakeSelected makes every parked gang ready that satisfies the predicate which.
func (c *gangCache) wakeSelected(s *cycle.Cycle, which func(*framework.Job) bool) {
	for _, j := range c.waiting {
		if j.Parked && which(j) {
			j.Parked = false
			s.RefreshQueue(j)
			s.Ready = append(s.Ready, j)
		}
	}
}

// parkUnplacedGangs parks the gangs that could not be placed.
func (c *gangCache) parkUnplacedGangs(s *cycle.Cycle) {
	c.storeQueueStates(s)
	for _, j := range s.Touched {
		if j.DiffersFromGang() {
			c.dirty = append(c.dirty, j)
		}
	}
	for _, j := range s.Ready {
		if !j.NeedsAnything() {
			c.removeWaiting(j)
			continue
		}
		if !j.DueAt.IsZero() {
			s.Out.WakeAt = earlierTime(s.Out.WakeAt, j.DueAt)
		}
		j.Park(c.stamps[j.In].version)
		j.AttachStamp = s.AttachStamp(j)
		j.ShiftStamp = c.stamps[j.In].shifted
	}
	s.AllWaiting = c.waiting
}
