// Package scheduler decides which gang runs where.
//
//	nodes, pods, PodGroups, queues ─▶ model ─▶ Engine.Cycle ─▶ decision.Decisions ─▶ outbox
//
//	In:   model.Cluster and the current time
//	Out:  decision.Decisions, as data
//
// # Invariants
//
//   - Pure: the same model at the same time gives the same decisions, regardless of what the engine processed before.
//     The state of an engine is only a cache.
//   - The model is not changed. Call decision.Assume to apply the decisions to it.
//
// # Concurrency
//
// An Engine and its Cluster belong to the same goroutine. Every Cluster needs its own Engine. The engine starts no
// goroutine.
package scheduler

import (
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/interpod"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/reservation"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Engine runs cycles.
type Engine struct {
	// Warnings describes the parts of the configuration that are invalid or have no effect.
	Warnings []string

	// Watch, if set, is called when a stage of a cycle begins, with the name of its policy or action. The returned
	// function is called when the stage ends. Use it to measure durations. It does not affect decisions.
	Watch func(stage Stage, name string) (end func())

	actions  []cycle.Action
	policies []tiered
	enqueues bool
	preempts bool
	attacks  []framework.AttackKind
	endings  reservation.EndingLog
	empty    cycle.EmptyNodes
	advised  int // number of gangs that got new advice in this cycle
	looked   int // value of session.Looked before the advice was computed
	// positions and similar are used for the explanations of the current cycle.
	positions positions
	similar   similarLabels
	easy      bool // waiting gangs get reservations if run times are known

	attacher session.Attacher

	view            overlay.Overlay
	judge           equivalence.Judge
	podCounts       interpod.PodCounts
	tree            session.Tree
	writtenTopology *model.Topology // topology whose HyperNode statuses were last written, at generation writtenGen
	writtenGen      uint64
	ledger          queue.Ledger
	gangs           gangCache
}

// Stage is a part of a cycle whose duration Engine.Watch can measure.
type Stage string

// The stages of a cycle.
const (
	OpenPolicy  Stage = "open"  // a policy prepares for the cycle
	RunAction   Stage = "run"   // an action runs
	ClosePolicy Stage = "close" // a policy ends the cycle
)

// Option configures an engine in addition to its Config.
type Option func(*Engine)

// WithAttacher makes the engine check the volumes and devices that pods attach. Every engine needs its own Attacher.
func WithAttacher(a session.Attacher) Option { return func(e *Engine) { e.attacher = a } }

// New returns an engine for a configuration.
func New(cfg *config.Config, options ...Option) (*Engine, error) {
	e := &Engine{}
	for _, option := range options {
		option(e)
	}
	e.gangs.reset()
	if err := e.applyConfig(cfg); err != nil {
		return nil, err
	}
	return e, nil
}

// Cycle decides what to do now. It reads c and does not change it.
func (e *Engine) Cycle(now time.Time, c *model.Cluster) decision.Decisions {
	s := e.openCycle(now, c) // 1. Read the current state and its changes.
	for _, policy := range e.policies {
		s.Rules.Tier = policy.tier
		end := e.watchStage(OpenPolicy, policy.Name())
		policy.Open(s.Session) // 2. What does each queue deserve? Which rules apply?
		end()
	}
	e.gangs.updateGangs(s) // 3. Which gangs could the changes help?
	for _, action := range e.actions {
		end := e.watchStage(RunAction, action.Name())
		action.Run(s) // 4. Admit, place, backfill, reclaim: in the configured order.
		end()
	}
	for _, policy := range e.policies {
		if closing, ok := policy.Policy.(session.Closing); ok {
			end := e.watchStage(ClosePolicy, policy.Name())
			closing.Close(s.Session)
			end()
		}
	}
	e.gangs.parkUnplacedGangs(s) // 5. Which gangs are still waiting, and for what?
	return e.buildDecisions(s)   // 6. Bindings, evictions, statuses: data for the outbox.
}

func (e *Engine) watchStage(stage Stage, name string) (end func()) {
	if e.Watch == nil {
		return func() {}
	}
	return e.Watch(stage, name)
}

func (e *Engine) openCycle(now time.Time, c *model.Cluster) *cycle.Cycle {
	e.view.Sync(c)
	e.judge.Open(&e.view, c.Resources, c.Shapes)
	e.ledger.Open(c)
	e.podCounts.Open(c, &e.view, &e.judge)
	e.tree.Open(c, &e.view)
	base := session.Open(now, c, &e.view, &e.judge, &e.ledger, e.gangs.jobOfGang)
	base.Preempts, base.Attacher = e.preempts, e.attacher
	base.PodCounts, base.Tree = &e.podCounts, &e.tree
	s := cycle.New(base)
	s.Attacks, s.Enqueues, s.EmptyNodes = e.attacks, e.enqueues, &e.empty
	s.Easy, s.EndingLog = e.easy, &e.endings
	e.positions, e.similar = positions{s: s}, similarLabels{}
	return s
}
