package daemon

import (
	"context"
	"time"

	"github.com/go-logr/logr"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// source supplies the deltas. The feed implements it.
type source interface {
	Signal() <-chan struct{}
	Drain(spare []model.Delta) []model.Delta
}

// decider makes the decisions. The engine implements it. The decisions are a pure function of time and model.
type decider interface {
	Cycle(now time.Time, c *model.Cluster) decision.Decisions
}

// effects receives the decisions. The outbox implements it.
type effects interface {
	Put(d *decision.Decisions)
}

// loop is the single goroutine of the scheduler. It receives changes and produces decisions.
type loop struct {
	source  source
	effects effects
	engine  decider
	engines <-chan *scheduler.Engine // new engines after a configuration reload
	cluster *model.Cluster
	period  time.Duration
	beat    func(time.Time) // called at every cycle, for health checks
	log     logr.Logger
	copies  copies // copies of the model, for Plans

	spare  []model.Delta
	took   time.Duration // duration of the last cycle
	window time.Duration // next coalescing window, without the part that depends on the duration of a cycle
	wake   time.Time     // when the engine wants to run again even if nothing changes
}

// Bounds of the coalescing window: changes that arrive within it are handled in one cycle. The window grows with the
// duration of a cycle, so that cycles never take more than about a third of the total time. It also grows, up to
// windowDull, while a stream of changes leads to no decisions, for example while the pods of a gang are created one by
// one.
const (
	windowMin  = 2 * time.Millisecond
	windowDull = 16 * time.Millisecond
	windowMax  = 50 * time.Millisecond
)

// runCyclesUntilDone repeats cycles until ctx is done. The source must have synced before.
func (l *loop) runCyclesUntilDone(ctx context.Context) {
	for ctx.Err() == nil {
		l.copies.acceptRequest()
		again := l.runOneCycle(time.Now())
		l.copies.fulfillRequest(l.cluster)
		if !again {
			l.waitForReason(ctx)
		}
	}
}

// runOneCycle applies the changes, makes decisions, assumes them in the model, and hands them over.
func (l *loop) runOneCycle(now time.Time) (again bool) {
	select {
	case <-l.source.Signal(): // drained below
	default:
	}
	deltas := l.source.Drain(l.spare)
	l.cluster.Apply(deltas...)
	d := l.engine.Cycle(now, l.cluster)
	decision.Assume(l.cluster, &d)
	l.effects.Put(&d)
	l.took = time.Since(now)
	l.window = nextWindow(l.window, len(deltas) > 0 && d.IsEmpty())
	l.wake = d.WakeAt
	l.spare = deltas[:0]
	l.beat(now)
	observeCycle(len(deltas), &d, l.took)
	if len(d.Binds)+len(d.Evicts) > 0 {
		l.log.V(1).Info("Cycle decided", "binds", len(d.Binds), "evictions", len(d.Evicts),
			"changes", len(deltas), "took", l.took)
	}
	return d.Again
}

// nextWindow doubles the window while changes lead to no decisions (dull), and resets it otherwise.
func nextWindow(window time.Duration, dull bool) time.Duration {
	if !dull {
		return windowMin
	}
	return min(max(2*window, windowMin), windowDull)
}

// waitForReason waits for the next reason to run a cycle, and then a little longer for changes that follow soon.
func (l *loop) waitForReason(ctx context.Context) {
	silence := l.period
	if !l.wake.IsZero() {
		silence = max(0, min(silence, time.Until(l.wake)))
	}
	timer := time.NewTimer(silence)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case engine := <-l.engines:
		l.engine = engine
	case l.copies.pending = <-l.copies.requests:
	case <-timer.C:
	case <-l.source.Signal():
		timer.Reset(min(max(l.window, 3*l.took), windowMax))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	}
}
