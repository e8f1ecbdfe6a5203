// Package session holds the state of one scheduling cycle that policies can access: the overlay, the ledger, the
// rules that policies registered, and the search for nodes by all rules.
//
//	In:   model.Cluster (read only), now, rules
//	Out:  decision.Decisions; the node for a task, or the reason why no node fits
//
// Packages placement, reservation and cycle build on it, in this order. Each of them embeds the main type of the
// previous package.
//
// # Invariants
//
//   - The overlay and the ledger always agree: a placement changes both.
//   - The model is not changed, except by simulations of package remedy, which restore it.
//
// # Concurrency
//
// A session belongs to the engine that opened it.
package session

import (
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
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
	// PodCounts evaluates the rules that depend on other pods.
	PodCounts *interpod.PodCounts
	Out       decision.Decisions
	Rules     framework.Rules
	// Attacher checks the volumes and devices that pods attach; nil if they are not checked.
	Attacher Attacher
	// Preempts is true if an action is configured that evicts pods inside a queue.
	Preempts bool
	// WakeAll makes all parked gangs ready. A policy sets it when something outside the model changed.
	WakeAll bool
	// Touched lists the jobs whose status is updated at the end of the cycle.
	Touched []*framework.Job
	// Kept lists the jobs of committed rounds, with one entry per round.
	Kept []*framework.Job
	// AllWaiting lists all gangs that want more than they have, including parked ones.
	AllWaiting []*framework.Job
	// Lapsed returns, for each resource, how much is reserved in a queue and its descendants by gangs that could not
	// start; nil if nothing is.
	Lapsed func(q *queue.Queue) []float64
	// Trying is the number of victims of the plan that is being tried.
	Trying int
	// Scope restricts the search for nodes; nil for all nodes.
	Scope *Scope

	jobOf     func(*model.Gang) *framework.Job
	scratch   scratch
	holders   holders
	sizes     *nodesize.Sizes
	forecasts int      // number of open forecasts
	refusals  refusals // of the current try in a forecast
}

// scratch holds buffers of bestByRules.
type scratch struct {
	candidates []model.NodeID
	points     []float64
}

// Open starts a cycle. The overlay, judge and ledger must be up to date with the model.
func Open(now time.Time, c *model.Cluster, view *overlay.Overlay, judge *equivalence.Judge, ledger *queue.Ledger, jobOf func(*model.Gang) *framework.Job) *Session {
	return &Session{
		Now: now, Cluster: c, View: view, Judge: judge, Ledger: ledger, jobOf: jobOf, sizes: nodesize.New(c, view, judge),
		Lapsed: func(*queue.Queue) []float64 { return nil },
	}
}

// LoadJob updates a job from its gang.
func (s *Session) LoadJob(j *framework.Job) { j.LoadFromGang(s.Ledger.Of(j.Gang.Queue), &s.Rules) }

// Job returns the session's view of a gang; nil if the gang is not tracked.
func (s *Session) Job(g *model.Gang) *framework.Job { return s.jobOf(g) }

// WakeAt requests a cycle at the time at, even if nothing has changed by then.
func (s *Session) WakeAt(at time.Time) {
	if s.Out.WakeAt.IsZero() || at.Before(s.Out.WakeAt) {
		s.Out.WakeAt = at
	}
}

// Touch marks the job's status to be updated at the end of the cycle.
func (s *Session) Touch(j *framework.Job) {
	if !j.Touched {
		j.Touched = true
		s.Touched = append(s.Touched, j)
	}
}

// IsEvicting reports whether this cycle is trying evictions.
func (s *Session) IsEvicting() bool { return s.Trying > 0 }

// InForecast reports whether the session shows a later time instead of now.
func (s *Session) InForecast() bool { return s.forecasts > 0 }

// BeginForecast marks the session as showing a later time, until EndForecast is called. Forecasts may be nested.
func (s *Session) BeginForecast() { s.forecasts++ }

// EndForecast ends the forecast that was begun last.
func (s *Session) EndForecast() { s.forecasts-- }

// StartTry drops the record of nodes that were rejected in the last try of a forecast.
func (s *Session) StartTry() { s.refusals.startTry() }

// Attacher checks the volumes and devices that pods attach, with kube-scheduler's own rules. Package kube implements
// Attacher. Programs that do not link that package place such pods without these checks.
type Attacher interface {
	// Open starts a cycle. The returned rule is valid until the next cycle.
	Open(s *Session, conf framework.Attaching) framework.NodeRule
	// Decided returns what must be written before a task that was placed in this cycle is bound; nil if nothing must
	// be written.
	Decided(t *model.Task, id model.NodeID) *decision.Attach
	// Stamp returns a value that changes when a change to volumes or devices could help pods of a shape.
	Stamp(s *model.Shape) uint64
}

// ranked identifies the gangs that have a certain priority in a queue.
type ranked struct {
	queue    *model.Queue
	priority int32
}

// holders caches the gangs that hold nodes.
type holders struct {
	byQueue map[*model.Queue][]*model.Gang
	sorted  bool // the gangs of each queue are in the reverse order of turns
	yields  map[ranked]yield
}

// yield holds the resources of the gangs in a queue that a gang of a certain priority may preempt.
type yield struct {
	minimums resource.Request // the part for their minimums
	all      resource.Request
}
