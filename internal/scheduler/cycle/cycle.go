// Package cycle decides, within one scheduling cycle, which gangs take part and in which order: admission to queues,
// turns, strict queues, borrowing, and which gangs could start at all. Actions operate on a Cycle.
//
//	In:   model.Cluster (read only), now, rules
//	Out:  decision.Decisions
//
// A Cycle contains the packages that it builds on: session (the overlay, the ledger, rules and nodes), placement (rounds)
// and reservation (forecasts and reservations). Policies see only the session.
//
// # Concurrency
//
// A Cycle belongs to the engine that opened it.
package cycle

import (
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/placement"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/reservation"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Cycle is one scheduling cycle.
type Cycle struct {
	*reservation.Planner
	// Attacks lists the configured kinds of action that evict pods to make room for gangs.
	Attacks []framework.AttackKind
	// Enqueues is true if action enqueue is configured. Without it every gang is admitted at once.
	Enqueues bool
	// Ready lists the gangs to try in this cycle: the ones that are not parked.
	Ready []*framework.Job
	// ReclaimStamp changes when a queue changes in a way that may make new evictions possible.
	ReclaimStamp uint64
	// EmptyNodes caches, between cycles, the room on nodes without gangs; nil at first.
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

// New starts a cycle in a session.
func New(s *session.Session) *Cycle {
	c := &Cycle{Planner: &reservation.Planner{Placer: placement.New(s)}}
	c.Constraints, c.Waiting = c, c
	s.Lapsed = c.lapsedIn
	return c
}
