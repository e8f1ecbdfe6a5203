// Package session is one cycle at work: the overlay, the ledger, the gangs that
// could be helped, and the rules that policies registered. Actions drive it.
//
//	In:   model.Cluster (read only), now, rules
//	Out:  decision.Decisions
//
// # Invariants
//
//   - A gang below its minimum is committed with its minimum or leaves no trace.
//   - The overlay and the ledger always tell the same: what one holds the other does.
//   - The model is not changed.
//
// # Concurrency
//
// A session belongs to the engine that opened it.
package session

import (
	"time"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/neighbour"
	"github.com/vc-batch/vc/internal/scheduler/place"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/shape"
)

// Session is one cycle.
type Session struct {
	Now     time.Time
	Cluster *model.Cluster
	View    *place.Overlay
	Judge   *shape.Judge
	Ledger  *queue.Ledger
	// Tree splits the nodes among the HyperNodes; nil: there are none.
	Tree *Tree
	// Neighbours judge what depends on other pods.
	Neighbours *neighbour.Book
	Out        decision.Decisions
	Rules      Rules
	// Attacher judges what pods attach; nil: nobody does.
	Attacher Attacher
	// Preempts says that an action is configured that evicts inside a queue.
	Preempts bool
	// Attacks are the kinds of the actions that evict for gangs, as configured.
	Attacks []AttackKind
	// WakeAll has all parked gangs looked at again: a policy heard of something that is not in the model.
	WakeAll bool
	// Enqueues says that action enqueue is configured; without it every gang is let in at once.
	Enqueues bool

	// Ready are the gangs to look at this cycle: those that are not parked.
	Ready []*Job
	// Touched are the jobs whose status is looked at when the cycle closes.
	Touched []*Job
	// Bound are the jobs that got nodes, in the order of their first.
	Bound []*Job
	// Kept are the jobs that rounds gave something to, one entry a round.
	Kept []*Job
	// AllWaiting are all gangs that want more than they have, parked ones included.
	AllWaiting []*Job
	// ReclaimStamp changes when a queue does: evictions may be possible now that were not before.
	ReclaimStamp uint64

	// Eased are queues that lost something in this cycle after their gangs were tried.
	Eased map[*queue.Queue]bool

	scope    *scope // nil: all nodes
	jobOf    func(*model.Gang) *Job
	memo     map[*model.Shape]failed
	roundsOf []Placed // scratch
	// scratch of bestByRules
	candidates []model.NodeID
	points     []float64
	gangs      map[*model.Queue][]*model.Gang
	sizes      map[*model.Shape]size
	nearLabels map[string]string // by the label that no node has
	largest    []int64
	largestOf  map[*model.Shape][]int64 // largestFor, as far as it was asked for
	lapsed     map[*queue.Queue][]float64
	could      map[*Job]bool // CouldStart, as far as it was asked for
	alone      bool          // CouldStart is being found out
	inVain     map[*Job]bool // gangs past their queues' gates that could not start; nil: not known yet
	promised   map[promisedTo]promisees
	// overdue is FirstOverdue, once asked for.
	overdue      *Job
	overdueKnown bool
	// Tried and Won count rounds.
	Tried, Won int
	// Trying counts the victims of the plan that is being tried.
	Trying int

	// Easy says that gangs which cannot start get a reservation where that can be known.
	Easy bool
	// Reservations are those made in this cycle, in order.
	Reservations []*Reservation
	// Looked counts the tasks that were placed to look ahead.
	Looked int
	// Walked counts the endings, and the nodes, that were gone through to look ahead.
	Walked  int
	looking int // look aheads that are open
	// EndingLog is what ends when, as of earlier cycles; nil: nothing is known yet.
	EndingLog *EndingLog
	// EmptyNodes is kept between cycles; nil: nothing is known yet.
	EmptyNodes   *EmptyNodes
	endingsKnown bool
	endings      []Ending
	endingsAt    int
	places       map[*queue.Queue]*places
	front        map[*Job]bool // the first of their queues; nil: not known yet
	insides      map[*queue.Queue]*insiders
	turns        map[*Job]int         // gangs that had their turn, from 1
	heads        map[*queue.Queue]int // gangs that a reservation was tried for
	later        time.Time            // the time that is looked at; zero: now

	keeps    []*keeping // room that gangs lost, kept for them
	refusals refusals   // of the try that looks ahead
	trial    Trial
	yields   map[ranked]yield
	// starving are Starving, once asked for; attacked are those for whom evictions were tried.
	starving      []*Job
	starvingKnown bool
	attacked      map[*Job]bool
}

// failed remembers that a single-shape gang did not fit in this cycle: one that
// needs as many or more will not either.
type failed struct {
	need    int
	verdict explain.Verdict
	free    uint32 // reservations that did not bind it, a bit each
	extra   bool   // it had its minimum, so that room which is being released did not count
}

// Open starts a cycle on an overlay, judge and ledger that are in step with the
// model.
func Open(now time.Time, c *model.Cluster, view *place.Overlay, judge *shape.Judge, ledger *queue.Ledger, jobOf func(*model.Gang) *Job) *Session {
	return &Session{
		Now: now, Cluster: c, View: view, Judge: judge, Ledger: ledger, jobOf: jobOf,
		memo: map[*model.Shape]failed{},
	}
}

// Job returns the session's view of a gang, nil for one that it does not follow.
func (s *Session) Job(g *model.Gang) *Job { return s.jobOf(g) }

// WakeAt asks for a cycle at that time, although nothing may have changed.
func (s *Session) WakeAt(at time.Time) {
	if s.Out.WakeAt.IsZero() || at.Before(s.Out.WakeAt) {
		s.Out.WakeAt = at
	}
}

// Verdict gives the job a reason to wait. The first one of a cycle stays, unless
// a later one knows better.
func (s *Session) Verdict(j *Job, v explain.Verdict) {
	v.EvictedBy = j.EvictedBy
	if v.Members == (explain.Members{}) { // who gave it does not know the gang
		v.Members = s.members(j, 0)
	}
	v.Extra = j.AllocatedTasks() > 0 && j.Satisfied()
	j.Verdict = v
	s.Touch(j)
}

// Touch has the job's status looked at when the cycle closes.
func (s *Session) Touch(j *Job) {
	if !j.Touched {
		j.Touched = true
		s.Touched = append(s.Touched, j)
	}
}

// evicting says whether this cycle is trying evictions.
func (s *Session) evicting() bool { return s.Trying > 0 }
