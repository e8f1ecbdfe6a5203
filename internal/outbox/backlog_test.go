package outbox

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// TestBacklogsCountWritesUntilTheyAreDone lets the API server reject the binds of one gang for a while. Writes in flight
// and writes that wait for their next attempt count with their whole age.
func TestBacklogsCountWritesUntilTheyAreDone(t *testing.T) {
	var isUp atomic.Bool
	answer := func(call string, _ int) error {
		if strings.HasPrefix(call, "bind") && !isUp.Load() {
			return busy
		}
		return nil
	}
	inBubble(t, &fakeAPI{answer: answer, takes: 10 * time.Millisecond}, func(t *testing.T, r *rig) {
		binding := func(writes int, oldest time.Duration) []Backlog {
			return []Backlog{{Lane: "evict"}, {Lane: "bind", Writes: writes, Oldest: oldest}, {Lane: "status"}, {Lane: "info"}, {Lane: "idle"}}
		}
		check := func(when string, want []Backlog) {
			if diff := cmp.Diff(want, r.Backlogs()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		check("at first", binding(0, 0))
		r.Put(&decision.Decisions{Binds: binds("g", 100)})
		after(5 * time.Millisecond)
		check("while the first calls run", binding(100, 5*time.Millisecond))
		after(3 * time.Second)
		r.Put(&decision.Decisions{Binds: binds("later", 1)})
		after(time.Second)
		check("during the outage", binding(101, 4005*time.Millisecond))
		isUp.Store(true)
		after(30 * time.Second)
		check("afterwards", binding(0, 0))
	})
}
