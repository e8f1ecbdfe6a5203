// Package scheduler decides which gang runs where.
//
//	nodes, pods, PodGroups, queues ─▶ model ─▶ Engine.Cycle ─▶ decision.Decisions ─▶ outbox
//
//	In:   model.Cluster, the time
//	Out:  decision.Decisions, data
//
// # Invariants
//
//   - Pure: the same model at the same time gives the same decisions, whatever the engine saw before: what an
//     engine remembers only saves work.
//   - The model is not changed; call decision.Assume to tell it what was decided.
//
// # Concurrency
//
// An Engine and its Cluster belong to one goroutine, and to each other: another Cluster takes another Engine. None is
// started.
package scheduler

import (
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/neighbour"
	"github.com/vc-batch/vc/internal/scheduler/place"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
	"github.com/vc-batch/vc/internal/scheduler/shape"
)

// Engine runs cycles.
type Engine struct {
	// Warnings are about what of the configuration could not be read or has no effect.
	Warnings []string

	// Watch, when set, is told that a stage of a cycle begins, "policy" or "action"
	// with its name, and what it returns is called when the stage ends: for figures
	// of what takes how long. It decides nothing.
	Watch func(stage, name string) (end func())

	actions  []session.Action
	policies []tiered
	enqueues bool
	preempts bool
	attacks  []session.AttackKind
	endings  session.EndingLog
	empty    session.EmptyNodes
	advised  int  // gangs told what would help, in this cycle
	looked   int  // tasks placed to look ahead, before it
	easy     bool // gangs that wait get reservations where run times are known

	attacher session.Attacher

	view       place.Overlay
	judge      shape.Judge
	neighbours neighbour.Book
	tree       session.Tree
	told       *model.Topology // whose HyperNodes' statuses were looked at, at toldGen
	toldGen    uint64
	ledger     queue.Ledger
	book       book
}

// Option is what an engine is given besides its configuration.
type Option func(*Engine)

// WithAttacher has pods judged by the volumes and devices that they attach. It
// serves one engine.
func WithAttacher(a session.Attacher) Option { return func(e *Engine) { e.attacher = a } }

// New makes an engine from a configuration.
func New(cfg *config.Config, options ...Option) (*Engine, error) {
	e := &Engine{}
	for _, option := range options {
		option(e)
	}
	e.book.reset()
	if err := e.configure(cfg); err != nil {
		return nil, err
	}
	return e, nil
}

// Cycle decides what is to be done now. c is read, not changed.
func (e *Engine) Cycle(now time.Time, c *model.Cluster) decision.Decisions {
	s := e.open(now, c) // 1. What do we know, and what changed since?
	for _, policy := range e.policies {
		s.Rules.Tier = policy.tier
		end := e.watch("policy", policy.Name())
		policy.Open(s) // 2. What does each queue deserve? Which rules hold?
		end()
	}
	e.book.update(s) // 3. Which gangs could be helped by what changed?
	for _, action := range e.actions {
		end := e.watch("action", action.Name())
		action.Run(s) // 4. Let in, place, fill up, take back: in the order configured.
		end()
	}
	for _, policy := range e.policies {
		if closing, ok := policy.Policy.(session.Closing); ok {
			closing.Close(s)
		}
	}
	e.book.settle(s)   // 5. Who still waits, and for what?
	return e.report(s) // 6. Binds, evictions, statuses: data for the outbox.
}

func (e *Engine) watch(stage, name string) (end func()) {
	if e.Watch == nil {
		return func() {}
	}
	return e.Watch(stage, name)
}

func (e *Engine) open(now time.Time, c *model.Cluster) *session.Session {
	e.view.Sync(c)
	e.judge.Open(&e.view, c.Resources, c.Shapes)
	e.ledger.Open(c)
	s := session.Open(now, c, &e.view, &e.judge, &e.ledger, e.book.job)
	s.Attacks = e.attacks
	s.Enqueues, s.Preempts, s.Easy, s.EndingLog = e.enqueues, e.preempts, e.easy, &e.endings
	s.EmptyNodes = &e.empty
	s.Attacher = e.attacher
	e.neighbours.Open(c, &e.view, &e.judge)
	s.Neighbours = &e.neighbours
	e.tree.Open(c, &e.view)
	s.Tree = &e.tree
	return s
}
