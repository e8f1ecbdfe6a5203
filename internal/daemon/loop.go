package daemon

import (
	"context"
	"time"

	"github.com/go-logr/logr"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// source is where deltas come from: the feed.
type source interface {
	Signal() <-chan struct{}
	Drain(spare []model.Delta) []model.Delta
}

// decider is the engine: a pure function of time and model.
type decider interface {
	Cycle(now time.Time, c *model.Cluster) decision.Decisions
}

// effects is where decisions go: the outbox.
type effects interface {
	Put(d *decision.Decisions)
}

// loop is the scheduler's one goroutine: changes in, decisions out.
type loop struct {
	source  source
	effects effects
	engine  decider
	engines <-chan *scheduler.Engine // replacements after a reload
	cluster *model.Cluster
	period  time.Duration
	beat    func(time.Time) // told at every cycle, for health
	log     logr.Logger
	muse    muse // answers Plans between the cycles

	spare  []model.Delta
	took   time.Duration // of the last cycle
	window time.Duration // the next coalescing window, but for the cost of a cycle
	wake   time.Time     // when the engine asked to be called though nothing changed
}

// Bounds of the coalescing window: what arrives within it is decided together.
// It grows with the cost of a cycle, so that deciding never takes more than
// about a third of the time, and, up to windowDull, while changes stream in that
// lead to nothing, such as the pods of a gang being created one by one.
const (
	windowMin  = 2 * time.Millisecond
	windowDull = 16 * time.Millisecond
	windowMax  = 50 * time.Millisecond
)

// run cycles until ctx is done. The source must have been synced.
func (l *loop) run(ctx context.Context) {
	for ctx.Err() == nil {
		again := l.cycle(time.Now())
		if more := l.think(time.Now()); !again && !more {
			l.rest(ctx)
		}
	}
}

// cycle applies what changed, decides, assumes, and hands over.
func (l *loop) cycle(now time.Time) (again bool) {
	select {
	case <-l.source.Signal(): // for what is drained here
	default:
	}
	deltas := l.source.Drain(l.spare)
	l.cluster.Apply(deltas...)
	d := l.engine.Cycle(now, l.cluster)
	decision.Assume(l.cluster, &d)
	l.effects.Put(&d)
	l.took = time.Since(now)
	l.window = nextWindow(l.window, len(deltas) > 0 && d.Empty())
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

// nextWindow doubles while changes lead to nothing and is short again after a
// decision or a silence.
func nextWindow(window time.Duration, dull bool) time.Duration {
	if !dull {
		return windowMin
	}
	return min(max(2*window, windowMin), windowDull)
}

// rest waits for the next reason to cycle, and then a little longer for what
// comes with it.
func (l *loop) rest(ctx context.Context) {
	silence := l.period
	if !l.wake.IsZero() {
		silence = max(0, min(silence, time.Until(l.wake)))
	}
	timer := time.NewTimer(silence)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case engine := <-l.engines:
		l.engine, l.muse.engine = engine, nil
	case q := <-l.muse.questions:
		l.muse.asked = &q // a cycle first: what was submitted before the question is part of it
	case <-timer.C:
	case <-l.source.Signal():
		timer.Reset(min(max(l.window, 3*l.took), windowMax))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	}
}
