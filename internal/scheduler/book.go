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

// book stores the gangs between cycles: which of them are waiting, and which are parked because no change could help
// them. It is only a cache: an engine with an empty book makes the same decisions.
type book struct {
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
	// foretold holds the first start time that was reported for each waiting gang.
	foretold map[*framework.Job]time.Time
}

// reports holds the figures that were last reported to metrics.
type reports struct {
	// countedAt is when the waiting gangs were last counted by queue. uncounted is true if gangs have changed since
	// then.
	countedAt time.Time
	uncounted bool
	// told holds the last reported figures of each gang. toldGone lists the gangs with reported figures whose deletion
	// is yet to be reported.
	told     map[*framework.Job]gangFigures
	toldGone []decision.Object
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

func (b *book) reset() {
	b.jobs = map[*model.Gang]*framework.Job{}
	b.at = map[*framework.Job]int{}
	b.stamps = map[*queue.Queue]stamp{}
	b.due = map[*framework.Job]time.Time{}
	b.eased = map[*queue.Queue]bool{}
	b.told = map[*framework.Job]gangFigures{}
	b.advices, b.foretold = map[*framework.Job]advice{}, map[*framework.Job]time.Time{}
}

func (b *book) jobOfGang(g *model.Gang) *framework.Job { return b.jobs[g] }

// updateGangs updates the book from the model and fills the session with the gangs to try.
func (b *book) updateGangs(s *cycle.Cycle) {
	look := func(g *model.Gang) { b.loadGang(s, g) }
	for _, j := range b.dirty {
		j.ForceReload()
		look(j.Gang)
	}
	b.dirty = b.dirty[:0]
	clear(b.eased)
	if b.seen == 0 || !s.Cluster.GangsSince(b.seen, look) {
		for g := range b.jobs {
			look(g)
		}
		for _, g := range s.Cluster.Gangs {
			look(g)
		}
	}
	b.seen = s.Cluster.Gen()
	s.HoldForRecovery()
	s.AllWaiting = b.waiting
	b.updateLapsed(s)
	b.easeInVainQueues(s)
	b.updateQueueVersions(s)
	b.wakeParkedGangs(s)
}

// loadGang loads one gang that may have changed.
func (b *book) loadGang(s *cycle.Cycle, g *model.Gang) {
	j := b.jobs[g]
	if !g.Known {
		if j != nil {
			b.removeWaiting(j)
			delete(b.jobs, g)
			delete(b.due, j)
			delete(b.advices, j)
			delete(b.forecasts, j)
			delete(b.foretold, j)
			b.recordDeleted(j)
		}
		return
	}
	if j == nil {
		b.ranks++
		j = &framework.Job{Gang: g, Rank: b.ranks}
		b.jobs[g] = j
	}
	if j.Touched && j.IsLoaded() {
		return // already loaded in this update
	}
	s.LoadJob(j)
	if len(j.Tasks) > j.TasksSeen {
		b.arrived = s.Now
	}
	j.TasksSeen = len(j.Tasks)
	s.Touch(j)
	j.Parked = false
	if j.NeedsAnything() {
		b.addWaiting(j)
	} else {
		j.ClearVerdict()
		b.removeWaiting(j)
	}
}

func (b *book) addWaiting(j *framework.Job) {
	if _, in := b.at[j]; !in {
		b.at[j] = len(b.waiting)
		b.waiting = append(b.waiting, j)
	}
}

func (b *book) removeWaiting(j *framework.Job) {
	i, in := b.at[j]
	if !in {
		return
	}
	last := len(b.waiting) - 1
	b.waiting[i] = b.waiting[last]
	b.at[b.waiting[i]] = i
	b.waiting[last] = nil
	b.waiting = b.waiting[:last]
	delete(b.at, j)
}

// updateQueueVersions increments the version of every queue that may have more free capacity than before.
func (b *book) updateQueueVersions(s *cycle.Cycle) {
	if len(s.View.Grown) > 0 {
		b.reclaim++ // with more free resources, fewer victims may be enough
	}
	if b.budgets != s.Cluster.BudgetGen { // more evictions may be allowed than before
		b.budgets = s.Cluster.BudgetGen
		b.reclaim++
	}
	gates := b.gates != s.Cluster.QueueGateGen // less may be reserved for pods that passed the gate
	b.gates = s.Cluster.QueueGateGen
	b.stirred = false
	raised := map[*queue.Queue]bool{}
	for _, q := range s.Ledger.TopDown { // free capacity of an ancestor helps its descendants
		old := b.stamps[q]
		if old.gen != q.Gen {
			b.reclaim++
			old.gen = q.Gen
		}
		if len(old.deserved) > 0 && (limitsDiffer(q.Deserved, old.deserved) || limitsDiffer(q.RealCapability, old.capacity)) {
			old.shifted++
		}
		anyEased := gates || b.eased[q] // less is reserved, in all queues or in this one
		better := anyEased || raised[q.Parent] || old.isImproved(q)
		b.stirred = b.stirred || better
		if better {
			raised[q] = raised[q.Parent] || old.refused
			old.refused = false
			old.version++
			old.eased = false
		}
		if better || isLessForAny(q.Deserved, old.deserved) {
			b.reclaim++
		}
		b.stamps[q] = old
	}
	s.ReclaimStamp = b.reclaim
}

// storeQueueStates stores the state of the queues after the cycle.
func (b *book) storeQueueStates(s *cycle.Cycle) {
	for _, q := range s.Ledger.Queues {
		old := b.stamps[q]
		old.eased = s.Eased[q]
		old.known, old.open, old.fault, old.refused = q.Known, q.Open, q.Fault, old.refused || q.Refused
		old.allocated = append(old.allocated[:0], q.Allocated...)
		old.occupied = append(old.occupied[:0], q.Occupied...)
		old.inqueue = append(old.inqueue[:0], q.Inqueue...)
		old.deserved = append(old.deserved[:0], q.Deserved...)
		old.capacity = append(old.capacity[:0], q.RealCapability...)
		old.elastic = append(old.elastic[:0], q.Elastic...)
		b.stamps[q] = old
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
func (b *book) wakeParkedGangs(s *cycle.Cycle) {
	w := b.newWaker(s)
	for _, j := range b.waiting {
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
		b.wakeSelected(s, func(j *framework.Job) bool { return j.Unsettled })
	}
	if s.MayFreeHeld() {
		b.wakeSelected(s, func(j *framework.Job) bool { return len(j.ParkedShapes) > 0 })
	}
	b.retryFrontGangs(s)
	s.AllWaiting, b.seenQuotas = b.waiting, s.Cluster.QuotaGen
	for j, at := range b.due {
		if !s.Now.Before(at) {
			delete(b.due, j)
			s.Touch(j)
		}
	}
}

// retryFrontGangs makes the parked gangs at the front of their queues ready again if nodes or their pods have changed,
// at most once per numbersEvery. The retry does not start these gangs but keeps their explanations correct: an
// explanation contains how many of the gang's pods fit and which resources are free, and a decrease of these numbers
// does not wake the gang.
func (b *book) retryFrontGangs(s *cycle.Cycle) {
	b.outdated = b.outdated || s.View.Touched
	if !b.outdated || len(b.waiting) == 0 {
		return
	}
	if at := b.refreshedAt.Add(numbersEvery); s.Now.Before(at) {
		s.WakeAt(at)
		return
	}
	b.refreshedAt, b.outdated = s.Now, false
	inFront := frontGangs(s)
	b.wakeSelected(s, func(j *framework.Job) bool { return inFront[j] && j.IsQueueBound() })
}

// wakeSelected makes every parked gang ready that satisfies the predicate which.
func (b *book) wakeSelected(s *cycle.Cycle, which func(*framework.Job) bool) {
	for _, j := range b.waiting {
		if j.Parked && which(j) {
			j.Parked = false
			s.RefreshQueue(j)
			s.Ready = append(s.Ready, j)
		}
	}
}

// parkUnplacedGangs parks the gangs that could not be placed.
func (b *book) parkUnplacedGangs(s *cycle.Cycle) {
	b.storeQueueStates(s)
	for _, j := range s.Touched {
		if j.DiffersFromGang() {
			b.dirty = append(b.dirty, j)
		}
	}
	for _, j := range s.Ready {
		if !j.NeedsAnything() {
			b.removeWaiting(j)
			continue
		}
		if !j.DueAt.IsZero() {
			s.Out.WakeAt = earlierTime(s.Out.WakeAt, j.DueAt)
		}
		j.Park(b.stamps[j.In].version)
		j.AttachStamp = s.AttachStamp(j)
		j.ShiftStamp = b.stamps[j.In].shifted
	}
	s.AllWaiting = b.waiting
}
