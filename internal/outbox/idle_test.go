package outbox

import (
	"fmt"
	"testing"
	"time"
)

// TestIdleWritesLeaveInBursts: the first write leaves at once, later ones together, at 400 a second. The rest of a
// burst leaves before the next one.
func TestIdleWritesLeaveInBursts(t *testing.T) {
	t.Parallel()
	q, g := newQueues(), &idleGate{ticks: burstTicks}
	now := time.Unix(1000, 0)
	for i := range 1000 {
		q.put(&write{lane: idleLane, key: fmt.Sprint(i), queued: now})
	}
	var left []int
	leave := func(most int) {
		n := 0
		for n < most && g.open() {
			w := q.next(func() bool { return true }, true)
			g.left(w, now)
			q.finished(w)
			n++
		}
		left = append(left, n)
	}
	for range 8 { // 400 ms
		g.tick(now, q)
		leave(60)
		now = now.Add(idleTick)
	}
	if got, want := fmt.Sprint(left), "[60 20 0 0 60 20 0 0]"; got != want {
		t.Errorf("idle writes that left by tick: %s, want %s", got, want)
	}
	g.tick(now, q)
	g.lastBusy = now // a new stream of binds
	now = now.Add(idleTick)
	g.tick(now, q)
	if g.open() {
		t.Error("what is left of a burst leaves while binds stream")
	}
}

// TestALoneIdleWriteDoesNotWaitForABurst: after a quiet period, the write leaves on the next tick.
func TestALoneIdleWriteDoesNotWaitForABurst(t *testing.T) {
	t.Parallel()
	q, g := newQueues(), &idleGate{}
	now := time.Unix(1000, 0)
	for range burstTicks {
		g.tick(now, q)
	}
	q.put(&write{lane: idleLane, key: "one", queued: now})
	g.tick(now.Add(idleTick), q)
	if !g.open() {
		t.Error("it waits")
	}
}
