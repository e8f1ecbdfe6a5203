package outbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/vc-batch/vc/internal/backpressure"
)

// ErrFenced is the error of a write that was dropped because this process is no longer the leader.
var ErrFenced = errors.New("this process is no longer the leader")

// errReplaced is the error of a bind or an eviction that was replaced by a newer write for the same pod.
var errReplaced = errors.New("a newer write for the same pod replaced this write")

// engine moves writes from the queues to the server with bounded parallelism.
type engine struct {
	log     logr.Logger
	clock   clock.WithDelayedExecution
	fence   func() error
	observe func(w *write, took time.Duration, outcome string)

	mu       sync.Mutex
	wake     *sync.Cond
	queues   *queues
	limiter  *limiter
	pressure *backpressure.Throttle
	inFlight int
	idle     idleGate
	resting  int // writes that are waiting for their next attempt
	closed   bool
}

// writesMin and writesMax limit the number of writes in flight.
const (
	writesMin = 4
	writesMax = 64
)

func newEngine(o *Options, observe func(*write, time.Duration, string)) *engine {
	e := &engine{log: o.Log, clock: o.Clock, pressure: o.Pressure, fence: o.Fence, observe: observe, queues: newQueues(), limiter: newLimiter(writesMin, writesMax)}
	e.wake = sync.NewCond(&e.mu)
	return e
}

// queueWrites queues writes. After the engine has stopped, it drops them, because the next leader makes its own
// decisions.
func (e *engine) queueWrites(writes ...*write) {
	for _, w := range e.enqueueWrites(writes, e.clock.Now()) {
		e.abandonWrite(w, errReplaced)
	}
}

// enqueueWrites queues the writes. It returns replaced writes whose outcome must be reported.
func (e *engine) enqueueWrites(writes []*write, now time.Time) (replaced []*write) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	for _, w := range writes {
		w.queued = now
		if old := e.queues.queueWrite(w); old != nil && old.mustReport() {
			replaced = append(replaced, old)
		}
	}
	e.wakeWorkers(len(writes))
	return replaced
}

// wakeWorkers wakes as many workers as there are writes to send.
func (e *engine) wakeWorkers(writes int) {
	for range min(writes, e.limiter.allowedWrites()-e.inFlight, e.queues.countSendable(e.idle.hasBudget())) {
		e.wake.Signal()
	}
}

// runUntilStopped sends writes until ctx is done. It returns when no write is in flight.
func (e *engine) runUntilStopped(ctx context.Context) {
	var workers sync.WaitGroup
	for range writesMax {
		workers.Go(func() { e.sendWrites(ctx) })
	}
	workers.Go(func() { e.openIdleLanePeriodically(ctx) })
	<-ctx.Done()
	e.mu.Lock()
	e.closed = true
	e.wake.Broadcast()
	e.mu.Unlock()
	workers.Wait()
}

func (e *engine) sendWrites(ctx context.Context) {
	for {
		w := e.waitForWrite(ctx)
		if w == nil {
			return
		}
		e.performWrite(ctx, w)
	}
}

// waitForWrite blocks until a write may be sent, and returns the write. It returns nil when the engine stops. It also
// checks ctx, because a worker whose call was cancelled may call waitForWrite before the engine is closed.
func (e *engine) waitForWrite(ctx context.Context) *write {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		if e.closed || ctx.Err() != nil {
			return nil
		}
		if w := e.takeAllowedWrite(); w != nil {
			return w
		}
		e.wake.Wait()
	}
}

// takeWrite returns the write to send now, or nil if no write may be sent.
func (e *engine) takeWrite() *write {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	return e.takeAllowedWrite()
}

// takeAllowedWrite removes the next write from the queues and counts it as being in flight. It returns nil if there is
// no write, or if the limit for writes in flight is reached. The caller must hold the lock.
func (e *engine) takeAllowedWrite() *write {
	if e.inFlight >= e.limiter.allowedWrites() {
		return nil
	}
	w := e.queues.takeNextWrite(e.mayWriteInfo, e.idle.hasBudget())
	if w != nil {
		e.inFlight++
		e.idle.recordSent(w, e.clock.Now())
	}
	return w
}

// mayWriteInfo reports whether the load on the API server currently permits a write in infoLane.
func (e *engine) mayWriteInfo() bool { return e.pressure.RequestSlot(e.clock.Now()) == 0 }

func (e *engine) performWrite(ctx context.Context, w *write) {
	if err := e.fence(); err != nil {
		e.releaseSlot(w)
		e.abandonWrite(w, ErrFenced)
		return
	}
	w.attempt++
	start := e.clock.Now()
	err := w.send(ctx)
	now := e.clock.Now()
	took := now.Sub(start)
	if isCancelled(ctx) && err != nil {
		e.releaseSlot(w)
		return // the next leader will see the outcome
	}

	v := verdictOfError(err)
	e.mu.Lock()
	e.inFlight--
	if v == overload || v == transient {
		e.limiter.recordOverload(now)
	} else {
		e.limiter.recordAnswer(now, took)
	}
	retry := (v == overload || v == transient) && w.attempt < maxAttempts
	superseded := false
	if !retry || !w.mustReport() {
		superseded = e.queues.finishWrite(w)
	}
	if retry && !superseded {
		e.queues.busy[w.key] = w // the key stays busy, so that no other write for this object is sent meanwhile
		e.resting++
	}
	e.wakeWorkers(2)
	e.mu.Unlock()

	switch {
	case v == done:
		e.observe(w, took, "ok")
		settleWrite(w, nil)
	case retry && superseded:
		e.observe(w, took, "superseded")
	case retry:
		e.observe(w, took, "retried")
		e.restThenRequeue(w, err)
	default:
		e.observe(w, took, "refused")
		e.abandonWrite(w, err)
	}
}

// restThenRequeue queues w again after a pause, unless there is a newer write for its key that is at least as urgent.
func (e *engine) restThenRequeue(w *write, err error) {
	pause := retryPause(w.attempt, err)
	e.log.V(2).Info("Retrying a write", "write", w.key, "attempt", w.attempt, "pause", pause, "reason", err.Error())
	e.clock.AfterFunc(pause, func() {
		if e.requeueUnlessReplaced(w) {
			return
		}
		e.observe(w, 0, "superseded")
		if w.mustReport() {
			e.abandonWrite(w, errReplaced)
		}
	})
}

// requeueUnlessReplaced queues w after its pause. It returns false if a newer write has replaced w. After the engine
// has stopped, it does nothing and returns true.
func (e *engine) requeueUnlessReplaced(w *write) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return true
	}
	e.resting--
	queued := e.queues.requeueWrite(w)
	e.wakeWorkers(1)
	return queued
}

// releaseSlot frees the slot of a write that was not completed.
func (e *engine) releaseSlot(w *write) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inFlight--
	e.queues.finishWrite(w)
	e.wakeWorkers(1)
}

func (e *engine) abandonWrite(w *write, err error) {
	e.log.V(1).Info("Gave up on a write", "write", w.key, "attempts", w.attempt, "reason", err.Error())
	settleWrite(w, err)
}

func settleWrite(w *write, err error) {
	if w.settled != nil {
		w.settled(err)
	}
}

// hasQueuedWrites reports whether a write is queued in any lane.
func (e *engine) hasQueuedWrites() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.queues.countSendable(true) > 0
}

// hasNothingLeft reports whether no write is queued, resting or in flight. Pod events do not count.
func (e *engine) hasNothingLeft() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.inFlight == 0 && e.resting == 0 &&
		e.queues.countWaiting(evictLane)+e.queues.countWaiting(bindLane)+e.queues.countWaiting(statusLane)+e.queues.countWaiting(infoLane) == 0
}
