package scenarios

import (
	"fmt"
	"testing"
	"time"
)

// TestAStartThatIsNotComputedYet submits jobs during the pause after a forecast. The reason for their unknown start must
// not be that other jobs lack a time limit. The next forecast replaces it.
func TestAStartThatIsNotComputedYet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nodes := []string{"z cpu=8 label:zone=z"}
	for i := range 20 {
		nodes = append(nodes, fmt.Sprintf("n%d cpu=8", i))
	}
	w.do("nodes", nodes)
	w.do("submit endless cpu=8 select:zone=z", nil)
	w.do("submit running tasks=160 cpu=1 limit=1h", nil)
	w.do("settle", nil)
	w.do("submit first tasks=160 cpu=1 limit=1h", nil)
	estimate := func(gang string) string {
		e := w.gangs[gang].Status.Explanation
		switch {
		case e == nil:
			return ""
		case e.EstimatedStart != nil:
			return "known"
		}
		return e.Estimate
	}
	check := func(gang, want string) {
		t.Helper()
		if got := estimate(gang); got != want {
			t.Errorf("%s: estimated start %q, want %q", gang, got, want)
		}
	}
	cycleAfter := func(pause time.Duration) {
		w.now = w.now.Add(pause - 2*time.Second) // a cycle of a story adds two seconds
		w.cycle()
	}
	cycleAfter(2 * time.Second)
	check("first", "known")
	w.do("submit second cpu=8 limit=1h", nil)
	w.do("submit zoned cpu=8 select:zone=z limit=1h", nil)
	w.do("queue shut state=Closed", nil)
	w.do("submit barred queue=shut cpu=8 limit=1h", nil)
	cycleAfter(time.Millisecond)
	check("second", "unknown: not computed yet")
	check("zoned", "unknown: not computed yet")
	check("barred", "unknown: the queue is closed")
	cycleAfter(2 * time.Second)
	check("second", "known")
	check("zoned", "unknown: not all jobs that must end first have a time limit")
	check("barred", "unknown: the queue is closed")
}
