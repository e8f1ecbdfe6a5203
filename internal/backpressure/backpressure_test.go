package backpressure

import (
	"testing"
	"time"
)

// busy returns a throttle that has recorded many slow writes, one per gap.
func busy(took, gap time.Duration) (*Throttle, time.Time) {
	g := &Throttle{}
	now := time.Unix(1000, 0)
	g.RecordWrite(now, 4*time.Millisecond)
	for range 20 * averaged {
		now = now.Add(gap)
		g.RecordWrite(now, took)
	}
	return g, now
}

func TestInformationalWritesAreNotDelayedWhileTheServerRespondsQuickly(t *testing.T) {
	g, now := busy(5*time.Millisecond, time.Millisecond)
	for range 100 {
		if wait := g.RequestSlot(now); wait != 0 {
			t.Fatalf("an informational write has to wait %s", wait)
		}
		if wait := g.ReserveSlot(now, time.Minute); wait != 0 {
			t.Fatalf("a place is only free in %s", wait)
		}
	}
}

func TestAServerThatIsAlwaysSlowIsNotUnderPressure(t *testing.T) {
	g := &Throttle{}
	now := time.Unix(1000, 0)
	for range 1000 {
		now = now.Add(time.Millisecond)
		g.RecordWrite(now, 50*time.Millisecond)
	}
	if g.IsUnderPressure(now) {
		t.Error("50 ms are pressure for one that never took less")
	}
}

func TestUnderPressureOneWriteInShareIsInformational(t *testing.T) {
	g, now := busy(200*time.Millisecond, 2*time.Millisecond)
	informational, writes := 0, 0
	for range 8000 {
		now = now.Add(2 * time.Millisecond)
		if g.RequestSlot(now) == 0 {
			informational++
		}
		g.RecordWrite(now, 200*time.Millisecond)
		writes++
	}
	if least, most := writes/Share*8/10, writes/Share*11/10; informational < least || informational > most {
		t.Errorf("%d informational writes beside %d writes, want %d to %d", informational, writes, least, most)
	}
}

func TestReservedSlotsAreInOrderAndNotTooLate(t *testing.T) {
	g, now := busy(200*time.Millisecond, 2*time.Millisecond)
	last := time.Duration(-1)
	for i := range 1000 {
		wait := g.ReserveSlot(now, 5*time.Second)
		if wait < last || wait > 5*time.Second {
			t.Fatalf("place %d is in %s, the one before in %s", i, wait, last)
		}
		last = wait
	}
	if last != 5*time.Second {
		t.Errorf("the thousandth place is in %s", last)
	}
}

func TestPressureEndsWithSilence(t *testing.T) {
	g, now := busy(200*time.Millisecond, 2*time.Millisecond)
	if !g.IsUnderPressure(now) {
		t.Fatal("slow answers are no pressure")
	}
	if now = now.Add(stale); g.IsUnderPressure(now) || g.RequestSlot(now) != 0 {
		t.Error("pressure lasts though nothing has been written for a second")
	}
}

func TestNilThrottleNeverDelaysAWrite(t *testing.T) {
	var g *Throttle
	g.RecordWrite(time.Now(), time.Hour)
	if g.IsUnderPressure(time.Now()) || g.RequestSlot(time.Now()) != 0 || g.ReserveSlot(time.Now(), time.Hour) != 0 {
		t.Error("a throttle that is not there holds something up")
	}
}
