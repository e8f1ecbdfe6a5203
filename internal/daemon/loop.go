package daemon

import (
	"context"
	"time"

	"github.com/go-logr/logr"

	"github.com/vc-batch/vc/internal/daemon/cycleloop"
	"github.com/vc-batch/vc/internal/scheduler"
)

// loop is the single goroutine of the scheduler. It decides when to run the next cycle.
type loop struct {
	cycleloop.Loop
	engines <-chan *scheduler.Engine // new engines after a configuration reload
	beat    func(time.Time)          // called at every cycle, for health checks
	log     logr.Logger
	copies  copies // copies of the model, for Plans
	// observer records metrics. changedSince returns when the oldest change that the last cycle handled had arrived, or
	// the zero time if it handled none; a nil changedSince means that this is unknown.
	observer     cycleObserver
	changedSince func() time.Time

	took time.Duration // duration of the last cycle
}

// runCyclesUntilDone repeats cycles until ctx is done. The source must have synced before.
func (l *loop) runCyclesUntilDone(ctx context.Context) {
	for ctx.Err() == nil {
		l.copies.acceptRequest()
		again := l.runOneCycle(time.Now())
		l.copies.fulfillRequest(l.Cluster)
		if !again {
			l.waitForReason(ctx)
		}
	}
}

// runOneCycle runs a cycle and records its metrics.
func (l *loop) runOneCycle(now time.Time) (again bool) {
	finished := false
	defer func() {
		if !finished {
			observeFailedCycle()
		}
	}()
	d, changes := l.RunCycle(now)
	finished = true
	l.took = time.Since(now)
	l.beat(now)
	l.observer.observeCycle(changes, &d, l.took)
	l.observer.gangs.prune(now, l.Cluster)
	l.observeDecisionAge()
	if len(d.Binds)+len(d.Evicts) > 0 {
		l.log.V(1).Info("Cycle decided", "binds", len(d.Binds), "evictions", len(d.Evicts),
			"changes", changes, "took", l.took)
	}
	return d.Again
}

func (l *loop) observeDecisionAge() {
	if l.changedSince == nil {
		return
	}
	if since := l.changedSince(); !since.IsZero() {
		decisionAge.Observe(time.Since(since).Seconds())
	}
}

// waitForReason waits for the next reason to run a cycle, and then a little longer for changes that follow soon.
func (l *loop) waitForReason(ctx context.Context) {
	timer := time.NewTimer(l.LongestPause(time.Now()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case engine := <-l.engines:
		l.Engine = engine
	case l.copies.pending = <-l.copies.requests:
	case <-timer.C:
	case <-l.Source.Signal():
		timer.Reset(l.CoalescingWindow(l.took))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	}
}
