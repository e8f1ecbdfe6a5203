// Package cycle decides, within one scheduling cycle, which gangs take part and in which order: admission to queues,
// turns, strict queues, borrowing, and which gangs could start at all. Actions operate on a Cycle.
//
//	In:   model.Cluster (read only), now, rules
//	Out:  decision.Decisions
//
// A Cycle embeds the packages that it builds on: session (the overlay, the ledger, rules and nodes), placement
// (rounds) and reservation (forecasts and reservations). Policies have access only to the session.
//
// # Concurrency
//
// A Cycle belongs to the engine that opened it.
package cycle

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/reservation"
)

// Cycle is one scheduling cycle.
type Cycle struct {
	*reservation.Planner
	// Attacks lists the configured kinds of action that evict pods to free resources for gangs.
	Attacks []framework.AttackKind
	// Enqueues is true if action enqueue is configured. Without it every gang is admitted at once.
	Enqueues bool
	// Ready lists the gangs to try in this cycle, which are the gangs that are not parked.
	Ready []*framework.Job
	// ReclaimStamp changes when a queue changes in a way that may make new evictions possible.
	ReclaimStamp uint64
	// EmptyNodes caches, between cycles, the free capacity that nodes would have without gangs; nil at first.
	EmptyNodes *EmptyNodes

	lapsed   map[*queue.Queue][]float64
	could    map[*framework.Job]bool // cache of CouldStart
	alone    bool                    // CouldStart is being computed
	inVain   map[*framework.Job]bool // gangs past their queues' gates that could not start; nil if not computed yet
	promised map[promisedTo]promisees
	insides  map[*queue.Queue]*insiders
	// overdue caches FirstOverdue.
	overdue      *framework.Job
	overdueKnown bool
	// starving caches StarvingJobs. attacked holds the gangs for which evictions were tried.
	starving      []*framework.Job
	starvingKnown bool
	attacked      map[*framework.Job]bool
}

// insiders holds the gangs of a queue that are admitted and are waiting for their minimum.
type insiders struct {
	waiting []*framework.Job
	// first holds the first maxInside gangs that could start, in the queue's order. It is valid if judged is true.
	first  []*framework.Job
	judged bool
	// others holds the numbers of pending pods of the gangs that are not among the first. misjudged caches the sum of
	// these numbers except the maxInside largest; it is valid if summed is true.
	others    []int
	misjudged int
	summed    bool
}

// EmptyNodes caches how many pods would fit on the nodes if no gang ran on them. It is kept between cycles.
type EmptyNodes struct {
	stamp framework.EmptyStamp
	slots map[*model.Shape]int
	// free holds the resources that all nodes together would have free; nil if not computed yet.
	free []int64
}

// promisedTo identifies a limit that promised resources count against.
type promisedTo struct {
	queue    string // "" for the whole cluster
	resource string
}

// promisees are the gangs with promised resources.
type promisees struct {
	first []*framework.Job // in the order of turns
	more  int
}
