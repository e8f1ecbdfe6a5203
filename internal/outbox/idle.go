package outbox

import (
	"context"
	"time"
)

// idleGate decides when idle writes (pod events, pod conditions) may leave, so
// that they never compete with binding: freely once there has been quiet for a
// while, and one by one when they have become old.
type idleGate struct {
	budget   int
	lastBusy time.Time
	recent   int // binds and evictions that left since the last tick
	ticks    int // since the last burst
}

const (
	idleTick = 50 * time.Millisecond
	// quietAfter is how long no stream of binds may have been seen before idle
	// writes flow freely.
	quietAfter = time.Second
	// streamOf is how many binds in one tick count as a stream.
	streamOf = 4
	// burstTicks is how many ticks lie between two bursts of idle writes. Together
	// they cost less than one by one: they share packets, and what watches tell
	// of them shares a cycle.
	burstTicks = 4
	// freely and drip are idle writes a burst: 400 and 20 a second.
	freely, drip = 80, 4
	oldIdle      = 10 * time.Second
	// idleMost is how many idle writes may wait; the oldest are dropped beyond it.
	idleMost = 20000
	// toldPerTick is how many workers a tick wakes to look whether what is told
	// may leave by now.
	toldPerTick = 50
)

func (g *idleGate) open() bool { return g.budget > 0 }

// left takes note of a write on its way out.
func (g *idleGate) left(w *write, now time.Time) {
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

// tick sets the budget until the next tick. What is left of a burst may leave
// later, as long as there is quiet.
func (g *idleGate) tick(now time.Time, q *queues) {
	g.recent = 0
	g.ticks++
	burst := g.burst(now, q)
	if g.ticks < burstTicks {
		g.budget = min(g.budget, burst)
		return
	}
	g.budget = burst
	if burst > 0 {
		g.ticks = 0
	}
}

// burst is how many idle writes may leave together now.
func (g *idleGate) burst(now time.Time, q *queues) int {
	head := q.idle.head()
	if head == nil {
		return 0
	}
	urgent := q.waiting(bindLane) + q.waiting(evictLane)
	switch {
	case urgent == 0 && now.Sub(g.lastBusy) >= quietAfter:
		return freely
	case now.Sub(head.queued) >= oldIdle:
		return drip
	}
	return 0
}

// openIdleLane opens the gate from time to time until ctx is done.
func (e *engine) openIdleLane(ctx context.Context) {
	ticker := time.NewTicker(idleTick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			e.mu.Lock()
			for e.queues.idle.len() > idleMost {
				w := e.queues.idle.take()
				e.observe(w, 0, "dropped")
			}
			e.idle.tick(now, e.queues)
			e.wakeFor(e.idle.budget + min(e.queues.waiting(toldLane), toldPerTick))
			e.mu.Unlock()
		}
	}
}
