package outbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/vc-batch/vc/internal/backpressure"
)

// ErrFenced is the error of a write that was dropped because this process is no longer the leader.
var ErrFenced = errors.New("leadership is no longer held")

// errReplaced is the error of a bind or an eviction that was replaced by a newer write for the same pod.
var errReplaced = errors.New("it was replaced by a newer write for the same pod")

// engine moves writes from the queues to the server with bounded parallelism.
type engine struct {
	log     logr.Logger
	fence   func() error
	observe func(w *write, took time.Duration, outcome string)

	mu       sync.Mutex
	wake     *sync.Cond
	queues   *queues
	limiter  *limiter
	pressure *backpressure.Governor
	inFlight int
	idle     idleGate
	resting  int // writes that wait for their next attempt
	closed   bool
}

// writesMin and writesMax limit the number of writes in flight.
const (
	writesMin = 4
	writesMax = 64
)

func newEngine(log logr.Logger, pressure *backpressure.Governor, fence func() error, observe func(*write, time.Duration, string)) *engine {
	e := &engine{log: log, pressure: pressure, fence: fence, observe: observe, queues: newQueues(), limiter: newLimiter(writesMin, writesMax)}
	e.wake = sync.NewCond(&e.mu)
	return e
}

// put queues writes. After the engine has stopped, it drops them, because the next leader makes its own decisions.
func (e *engine) put(writes ...*write) {
	for _, w := range e.enqueue(writes, time.Now()) {
		e.giveUp(w, errReplaced)
	}
}

// enqueue queues the writes. It returns replaced writes whose outcome must be reported.
func (e *engine) enqueue(writes []*write, now time.Time) (replaced []*write) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	for _, w := range writes {
		w.queued = now
		if old := e.queues.put(w); old != nil && old.owed() {
			replaced = append(replaced, old)
		}
	}
	e.wakeFor(len(writes))
	return replaced
}

// wakeFor wakes as many workers as there are writes to send.
func (e *engine) wakeFor(writes int) {
	for range min(writes, e.limiter.allowed()-e.inFlight, e.queues.leaving(e.idle.open())) {
		e.wake.Signal()
	}
}

// run sends writes until ctx is done. It returns when no write is in flight.
func (e *engine) run(ctx context.Context) {
	var workers sync.WaitGroup
	for range writesMax {
		workers.Go(func() { e.work(ctx) })
	}
	workers.Go(func() { e.openIdleLane(ctx) })
	<-ctx.Done()
	e.mu.Lock()
	e.closed = true
	e.wake.Broadcast()
	e.mu.Unlock()
	workers.Wait()
}

func (e *engine) work(ctx context.Context) {
	for {
		w := e.take(ctx)
		if w == nil {
			return
		}
		e.carryOut(ctx, w)
	}
}

// take blocks until a write may be sent, and returns the write. It returns nil when the engine stops. It also checks
// ctx, because a worker whose call was cancelled may call take before run has closed the engine.
func (e *engine) take(ctx context.Context) *write {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		if e.closed || ctx.Err() != nil {
			return nil
		}
		if e.inFlight < e.limiter.allowed() {
			if w := e.queues.next(e.mayTell, e.idle.open()); w != nil {
				e.inFlight++
				e.idle.left(w, time.Now())
				return w
			}
		}
		e.wake.Wait()
	}
}

// mayTell reports whether the load on the API server currently permits a write in toldLane.
func (e *engine) mayTell() bool { return e.pressure.Remark(time.Now()) == 0 }

func (e *engine) carryOut(ctx context.Context, w *write) {
	if err := e.fence(); err != nil {
		e.release(w)
		e.giveUp(w, ErrFenced)
		return
	}
	w.attempt++
	start := time.Now()
	err := w.send(ctx)
	now := time.Now()
	took := now.Sub(start)
	if stopped(ctx) && err != nil {
		e.release(w)
		return // the next leader will see the outcome
	}

	v := judge(err)
	e.mu.Lock()
	e.inFlight--
	if v == overload || v == transient {
		e.limiter.overloaded(now)
	} else {
		e.limiter.answered(now, took)
	}
	retry := (v == overload || v == transient) && w.attempt < maxAttempts
	superseded := false
	if !retry || !w.owed() {
		superseded = e.queues.finished(w)
	}
	if retry && !superseded {
		e.queues.busy[w.key] = true // the key stays busy, so that no other write for this object is sent meanwhile
		e.resting++
	}
	e.wakeFor(2)
	e.mu.Unlock()

	switch {
	case v == done:
		e.observe(w, took, "ok")
		settle(w, nil)
	case retry && superseded:
		e.observe(w, took, "superseded")
	case retry:
		e.observe(w, took, "retried")
		e.restThenRequeue(ctx, w, err)
	default:
		e.observe(w, took, "refused")
		e.giveUp(w, err)
	}
}

// restThenRequeue queues w again after a pause, unless there is a newer write for its key that is at least as urgent.
func (e *engine) restThenRequeue(ctx context.Context, w *write, err error) {
	pause := pauseAfter(w.attempt, err)
	e.log.V(2).Info("Write will be repeated", "write", w.key, "attempt", w.attempt, "pause", pause, "reason", err.Error())
	timer := time.NewTimer(pause)
	go func() {
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		e.mu.Lock()
		e.resting--
		queued := e.queues.again(w)
		e.wakeFor(1)
		e.mu.Unlock()
		if queued {
			return
		}
		e.observe(w, 0, "superseded")
		if w.owed() {
			e.giveUp(w, errReplaced)
		}
	}()
}

// release frees the slot of a write that was not completed.
func (e *engine) release(w *write) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inFlight--
	e.queues.finished(w)
	e.wakeFor(1)
}

func (e *engine) giveUp(w *write, err error) {
	e.log.V(1).Info("Write was given up", "write", w.key, "attempts", w.attempt, "reason", err.Error())
	settle(w, err)
}

func settle(w *write, err error) {
	if w.settled != nil {
		w.settled(err)
	}
}

// empty reports whether no write is queued, resting or in flight. Pod events do not count.
func (e *engine) empty() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.inFlight == 0 && e.resting == 0 &&
		e.queues.waiting(evictLane)+e.queues.waiting(bindLane)+e.queues.waiting(statusLane)+e.queues.waiting(toldLane) == 0
}
