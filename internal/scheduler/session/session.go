// Package session holds the state of one scheduling cycle: the overlay, the ledger, the gangs that could be helped,
// and the rules that policies registered. Actions operate on it.
//
//	In:   model.Cluster (read only), now, rules
//	Out:  decision.Decisions
//
// # Invariants
//
//   - A gang below its minimum is committed with its minimum or leaves no trace.
//   - The overlay and the ledger always agree: a placement changes both.
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
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/interpod"
	"github.com/vc-batch/vc/internal/scheduler/nodesize"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// Session is the state of one cycle.
type Session struct {
	Now     time.Time
	Cluster *model.Cluster
	View    *overlay.Overlay
	Judge   *equivalence.Judge
	Ledger  *queue.Ledger
	// Tree splits the nodes among the HyperNodes; nil if it is not set up.
	Tree *Tree
	// Neighbours evaluates the rules that depend on other pods.
	Neighbours *interpod.Book
	Out        decision.Decisions
	Rules      framework.Rules
	// Attacher checks the volumes and devices that pods attach; nil if they are not checked.
	Attacher Attacher
	// Preempts is true if an action is configured that evicts inside a queue.
	Preempts bool
	// Attacks lists the configured kinds of action that evict pods to make room for gangs.
	Attacks []framework.AttackKind
	// WakeAll makes all parked gangs ready. A policy sets it when something outside the model changed.
	WakeAll bool
	// Enqueues is true if action enqueue is configured. Without it every gang is admitted at once.
	Enqueues bool

	// Ready lists the gangs to try in this cycle: the ones that are not parked.
	Ready []*framework.Job
	// Touched lists the jobs whose status is updated at the end of the cycle.
	Touched []*framework.Job
	// Bound lists the jobs that got nodes, in the order of their first placement.
	Bound []*framework.Job
	// Kept lists the jobs of committed rounds, with one entry per round.
	Kept []*framework.Job
	// AllWaiting lists all gangs that want more than they have, including parked ones.
	AllWaiting []*framework.Job
	// ReclaimStamp changes when a queue changes in a way that may make new evictions possible.
	ReclaimStamp uint64

	// Eased holds the queues that lost resources in this cycle after their gangs were tried.
	Eased map[*queue.Queue]bool

	scope    *scope // nil for all nodes
	jobOf    func(*model.Gang) *framework.Job
	failures map[*model.Shape]cachedFailure
	roundsOf []framework.Placed // scratch
	// Buffers of bestByRules.
	candidates  []model.NodeID
	points      []float64
	gangs       map[*model.Queue][]*model.Gang
	gangsSorted bool // gangs is sorted
	sizes       *nodesize.Sizes
	lapsed      map[*queue.Queue][]float64
	could       map[*framework.Job]bool // cache of CouldStart
	alone       bool                    // CouldStart is being computed
	inVain      map[*framework.Job]bool // gangs past their queues' gates that could not start; nil if not computed yet
	promised    map[promisedTo]promisees
	// overdue caches FirstOverdue.
	overdue      *framework.Job
	overdueKnown bool
	// Tried and Won are the numbers of rounds and of committed rounds.
	Tried, Won int
	// Trying is the number of victims of the plan that is being tried.
	Trying int

	// Easy is true if gangs that cannot start get a reservation where their start time can be computed.
	Easy bool
	// Reservations lists the reservations made in this cycle, in order.
	Reservations []*Reservation
	// Looked is the number of tasks placed in forecasts.
	Looked int
	// Walked is the number of endings and nodes processed in forecasts.
	Walked  int
	looking int // number of open forecasts
	// EndingLog caches the end times of running tasks between cycles; nil at first.
	EndingLog *EndingLog
	// EmptyNodes caches, between cycles, the room on nodes without gangs; nil at first.
	EmptyNodes   *EmptyNodes
	endingsKnown bool
	endings      []Ending
	endingsAt    int
	insides      map[*queue.Queue]*insiders
	turns        map[*framework.Job]int // order in which gangs had their turn, from 1
	heads        map[*queue.Queue]int   // number of gangs for which a reservation was tried, by queue
	later        time.Time              // the time of the current forecast; zero for now

	keeps    []*keeping // resources of lost pods that are held for their gangs
	refusals refusals   // of the current try in a forecast
	trial    Trial
	yields   map[ranked]yield
	// starving caches StarvingJobs. attacked holds the gangs for which evictions were tried.
	starving      []*framework.Job
	starvingKnown bool
	attacked      map[*framework.Job]bool
}

// Open starts a cycle. The overlay, judge and ledger must be up to date with the model.
func Open(now time.Time, c *model.Cluster, view *overlay.Overlay, judge *equivalence.Judge, ledger *queue.Ledger, jobOf func(*model.Gang) *framework.Job) *Session {
	return &Session{
		Now: now, Cluster: c, View: view, Judge: judge, Ledger: ledger, jobOf: jobOf,
		failures: map[*model.Shape]cachedFailure{}, sizes: nodesize.New(c, view, judge),
	}
}

// LoadJob updates a job from its gang.
func (s *Session) LoadJob(j *framework.Job) { j.LoadFromGang(s.Ledger.Of(j.Gang.Queue), &s.Rules) }

// Job returns the session's view of a gang; nil if the gang is not tracked.
func (s *Session) Job(g *model.Gang) *framework.Job { return s.jobOf(g) }

// WakeAt requests a cycle at a time even if nothing changes.
func (s *Session) WakeAt(at time.Time) {
	if s.Out.WakeAt.IsZero() || at.Before(s.Out.WakeAt) {
		s.Out.WakeAt = at
	}
}

// SetVerdict sets the job's reason to wait. A later verdict replaces an earlier one.
func (s *Session) SetVerdict(j *framework.Job, v explain.Verdict) {
	v.EvictedBy = j.EvictedBy
	if v.Members == (explain.Members{}) { // the caller did not set it
		v.Members = s.countMembers(j, 0)
	}
	v.Extra = j.AllocatedTasks() > 0 && j.IsSatisfied()
	if !v.Extra {
		s.addImpossible(j, &v)
	}
	j.Verdict = v
	s.Touch(j)
}

// Touch marks the job's status to be updated at the end of the cycle.
func (s *Session) Touch(j *framework.Job) {
	if !j.Touched {
		j.Touched = true
		s.Touched = append(s.Touched, j)
	}
}

// isEvicting reports whether this cycle is trying evictions.
func (s *Session) isEvicting() bool { return s.Trying > 0 }
