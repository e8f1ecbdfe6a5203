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
		q.queueWrite(&write{lane: idleLane, key: fmt.Sprint(i), queued: now})
	}
	var left []int
	leave := func(most int) {
		n := 0
		for n < most && g.hasBudget() {
			w := q.takeNextWrite(func() bool { return true }, true)
			g.recordSent(w, now)
			q.finishWrite(w)
			n++
		}
		left = append(left, n)
	}
	for range 8 { // 400 ms
		g.setBudgetForTick(now, q)
		leave(60)
		now = now.Add(IdleTick)
	}
	if got, want := fmt.Sprint(left), "[60 20 0 0 60 20 0 0]"; got != want {
		t.Errorf("idle writes that left by tick: %s, want %s", got, want)
	}
	g.setBudgetForTick(now, q)
	g.lastBusy = now // a new stream of binds
	now = now.Add(IdleTick)
	g.setBudgetForTick(now, q)
	if g.hasBudget() {
		t.Error("what is left of a burst leaves while binds stream")
	}
}

// TestALoneIdleWriteDoesNotWaitForABurst: after a quiet period, the write leaves on the next tick.
func TestALoneIdleWriteDoesNotWaitForABurst(t *testing.T) {
	t.Parallel()
	q, g := newQueues(), &idleGate{}
	now := time.Unix(1000, 0)
	for range burstTicks {
		g.setBudgetForTick(now, q)
	}
	q.queueWrite(&write{lane: idleLane, key: "one", queued: now})
	g.setBudgetForTick(now.Add(IdleTick), q)
	if !g.hasBudget() {
		t.Error("it waits")
	}
}
