// Package reservation computes when gangs start and reserves resources for them until then. It contains a timeline of
// the tasks that end at known times, forecasts, reservations that other gangs may not delay, and resources held for
// lost pods.
//
//	In:   a placement.Placer, run times, gangs that wait
//	Out:  reservations, as node rules and constraints of placement; the forecast start of each gang
//
// # Invariants
//
//   - A forecast changes the overlay, the ledger and the counts of pods, and restores them when it is closed.
//   - A task that is placed before a reservation begins does not delay it unless run times are exceeded.
//
// # Concurrency
//
// A Planner belongs to its session.
package reservation

import (
	"time"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/placement"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// Planner makes reservations and forecasts in one cycle.
type Planner struct {
	*placement.Placer
	// Waiting provides information about waiting gangs. It must be set before the first reservation.
	Waiting Waiting
	// Easy is true if gangs that cannot start now get a reservation, provided that their start time can be computed.
	Easy bool
	// Reservations lists the reservations made in this cycle, in order.
	Reservations []*Reservation
	// Looked is the number of tasks placed in forecasts.
	Looked int
	// Walked is the number of endings and nodes processed in forecasts.
	Walked int
	// EndingLog caches the end times of running tasks between cycles; nil at first.
	EndingLog *EndingLog

	endingsKnown bool
	endings      []Ending
	endingsAt    int
	turns        map[*framework.Job]int // order in which gangs had their turn, from 1
	heads        map[*queue.Queue]int   // number of gangs for which a reservation was tried, by queue
	later        time.Time              // the time of the current forecast; zero for now
	keeps        []*keeping             // resources of lost pods that are held for their gangs
}

// Waiting provides information about waiting gangs.
type Waiting interface {
	// CouldNeverStart reports whether a gang is known not to start even on an empty cluster.
	CouldNeverStart(j *framework.Job) bool
	// BlocksOthers reports whether the other gangs of a strict queue must wait for a gang.
	BlocksOthers(j *framework.Job) bool
	// MayHold returns why a queue may not hold a request in addition to what it holds. It ignores what queues reserve
	// for the two given gangs.
	MayHold(q *queue.Queue, request resource.Request, one, two *framework.Job) explain.Verdict
}

// keeping holds the resources of lost pods for one gang.
type keeping struct {
	job   *framework.Job
	in    *queue.Queue
	room  []framework.Placed // what may be held
	held  []framework.Placed // the part that is held
	until time.Time
}
