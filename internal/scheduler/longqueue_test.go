package scheduler

import (
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// TestNumbersOfGangsFarBackAreRefreshedEveryMinute checks that gangs far back in a long queue are not updated for
// changed numbers when a pod ends, but are updated a minute later.
func TestNumbersOfGangsFarBackAreRefreshedEveryMinute(t *testing.T) {
	l := newLongQueue(t, 1, 60)
	back := l.cluster.Gangs["default/waits-000050"]
	last := back.Status.Explanation
	if last == nil || last.Queue == nil || last.Queue.Position <= front {
		t.Fatalf("the gang is not far back in its queue: %+v", last)
	}
	reported := func(pause time.Duration) bool {
		l.change()
		l.now = l.now.Add(pause)
		d := l.engine.Cycle(l.now, l.cluster)
		decision.Assume(l.cluster, &d)
		for _, g := range d.Gangs {
			if g.Gang.Name == back.Name {
				return true
			}
		}
		return false
	}
	for range 3 {
		if reported(time.Second) {
			t.Errorf("reported again within a minute: %q, before %q", back.Status.Explanation.Message, last.Message)
		}
	}
	if !reported(time.Minute) || back.Status.Explanation.Message == last.Message {
		t.Errorf("not reported with new numbers after a minute: %q", back.Status.Explanation.Message)
	}
}
