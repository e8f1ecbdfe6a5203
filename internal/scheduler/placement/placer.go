// Package placement places gangs: either all pods that a gang needs, or none. It tries different orders of pods,
// sub-groups and HyperNodes, and commits or undoes each try.
//
//	In:   a session, a gang, constraints of other packages
//	Out:  an Outcome; the job's placed or promised tasks, or its verdict
//
// # Invariants
//
//   - After Failed, the overlay, the ledger and the job are as before, except for the job's verdict.
//   - A gang below its minimum is either committed with its minimum or leaves no trace.
//
// # Concurrency
//
// A Placer belongs to its session.
package placement

import (
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Placer places gangs in one cycle.
type Placer struct {
	*session.Session
	// Constraints limits what rounds may place. It must be set before the first round.
	Constraints Constraints
	// Bound lists the jobs that got nodes, in the order of their first placement.
	Bound []*framework.Job
	// Eased holds the queues that lost resources in this cycle after their gangs were tried.
	Eased map[*queue.Queue]bool
	// Tried and Won are the numbers of tried and of committed rounds. Broken is the number of rounds that an error
	// ended.
	Tried, Won, Broken int

	failures map[*model.Shape]cachedFailure
	roundsOf []framework.Placed // scratch
	trial    Trial
}

// New returns a Placer for a session.
func New(s *session.Session) *Placer {
	return &Placer{Session: s, failures: map[*model.Shape]cachedFailure{}}
}

// cachedFailure records that a gang of a single shape did not fit in this cycle. A gang that needs at least as many
// pods does not fit either.
type cachedFailure struct {
	need    int
	verdict explain.Verdict
	free    uint32 // reservations that did not restrict the gang, as a bit set
	extra   bool   // the gang had its minimum, so resources that are being released did not count
}

// Trial holds the conditions of an attempt to place a gang as if the victims had already ended.
type Trial struct {
	// Swap is the queue's allocation including the victims. The queue may hold that much again even if its
	// share has decreased. If Swap is nil, the limits apply.
	Swap []float64
	// Grow allows a gang that has its minimum to wait for resources too.
	Grow bool
	// First must be among the placed tasks; nil for any task.
	First *model.Task
}
