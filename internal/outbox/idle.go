package outbox

import (
	"context"
	"time"
)

// idleGate decides when idle writes (pod events and pod conditions) may be sent, so that they never compete with
// binds. They are sent freely after a quiet period, and slowly once they have become old.
type idleGate struct {
	budget   int
	lastBusy time.Time
	recent   int // binds and evictions sent since the last tick
	ticks    int // number of ticks since the last burst
}

const (
	// IdleTick is the interval of OpenIdleLane.
	IdleTick = 50 * time.Millisecond
	// quietAfter is how long binds must have been rare before idle writes are sent freely.
	quietAfter = time.Second
	// streamOf is the number of binds and evictions within one tick that makes it part of a busy period.
	streamOf = 4
	// burstTicks is the number of ticks between two bursts of idle writes. A burst costs less than separate writes,
	// because the writes share packets and the scheduler handles their watch events in a single cycle.
	burstTicks = 4
	// freely and drip are the sizes of a burst. They correspond to 400 and 20 writes per second.
	freely, drip = 80, 4
	oldIdle      = 10 * time.Second
	// idleMost is the maximum number of queued idle writes. If there are more, the oldest are dropped.
	idleMost = 20000
	// infoPerTick is the maximum number of workers that are woken at each tick to check whether writes in infoLane may
	// be sent.
	infoPerTick = 50
)

func (g *idleGate) hasBudget() bool { return g.budget > 0 }

// recordSent records that a write was sent.
func (g *idleGate) recordSent(w *write, now time.Time) {
	switch w.lane {
	case idleLane:
		g.budget--
	case bindLane, evictLane:
		g.recent++
		if g.recent >= streamOf {
			g.lastBusy = now
		}
	}
}

// setBudgetForTick sets the budget until the next tick. The rest of a burst may be sent later, as long as binds remain
// rare.
func (g *idleGate) setBudgetForTick(now time.Time, q *queues) {
	g.recent = 0
	g.ticks++
	burst := g.idleBurstSize(now, q)
	if g.ticks < burstTicks {
		g.budget = min(g.budget, burst)
		return
	}
	g.budget = burst
	if burst > 0 {
		g.ticks = 0
	}
}

// idleBurstSize returns the number of idle writes that may be sent together now.
func (g *idleGate) idleBurstSize(now time.Time, q *queues) int {
	head := q.idle.firstWrite()
	if head == nil {
		return 0
	}
	urgent := q.countWaiting(bindLane) + q.countWaiting(evictLane)
	switch {
	case urgent == 0 && now.Sub(g.lastBusy) >= quietAfter:
		return freely
	case now.Sub(head.queued) >= oldIdle:
		return drip
	}
	return 0
}

// openIdleLanePeriodically calls openIdleLane on every tick until ctx is done.
func (e *engine) openIdleLanePeriodically(ctx context.Context) {
	ticker := time.NewTicker(IdleTick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			e.openIdleLane()
		}
	}
}

// openIdleLane decides how many writes of the idle lane may be sent until the next tick, and drops the oldest writes if
// there are too many.
func (e *engine) openIdleLane() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.queues.idle.countWrites() > idleMost {
		w := e.queues.idle.takeFirstWrite()
		e.observe(w, 0, "dropped")
	}
	e.idle.setBudgetForTick(e.clock.Now(), e.queues)
	e.wakeWorkers(e.idle.budget + min(e.queues.countWaiting(infoLane), infoPerTick))
}
