package scheduler

import (
	"runtime"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// orders are configurations that differ only in the order of turns.
var orders = []struct{ name, tier string }{
	{"proportion", "{name: proportion}"},
	{"fairshare", "{name: fairshare}, {name: proportion}"},
	{"drf with hierarchy", "{name: drf, enableHierarchy: true}"},
}

// orderMix has 20 queues with gangs of 10, as in the first of mixesOf, with one of the orders.
func orderMix(nodes int, tier string) mix {
	return mix{nodes: nodes, shapes: 50, gang: 10, queues: 20, pods: 20 * nodes, conf: "actions: \"enqueue, allocate, backfill\"\ntiers:\n" +
		"- plugins: [{name: priority}, {name: gang}, " + tier + "]\n- plugins: [{name: predicates}, {name: binpack}]\n"}
}

// TestOrdersFloor bounds the cost of ordering many gangs: a first cycle that places all of them, and a later one in
// which a single gang arrived. It measures processor time, the best of three. The floors are 20,000 pods per second
// and twice the time of policy proportion alone.
func TestOrdersFloor(t *testing.T) {
	measured(t)
	for _, nodes := range sizes {
		plain := 0.0
		for i, order := range orders {
			best, later := 0.0, time.Hour
			for range 3 {
				m := orderMix(nodes, order.tier)
				e, c := m.load(t)
				runtime.GC()
				start := spent()
				d := e.Cycle(make.Epoch, c)
				best = max(best, float64(len(d.Binds))/(spent()-start).Seconds())
				if len(d.Binds) != m.pods {
					t.Fatalf("decided %d of %d pods", len(d.Binds), m.pods)
				}
				decision.Assume(c, &d)
				d = e.Cycle(make.Epoch.Add(time.Second), c)
				decision.Assume(c, &d)
				addWhyNot(c, 0, false)
				runtime.GC()
				start = spent()
				e.Cycle(make.Epoch.Add(2*time.Second), c)
				later = min(later, spent()-start)
			}
			told(t, "decided pods/s, 20 queues, gangs of 10, order by "+order.name, nodes, best, "pods/s")
			told(t, "one new gang beside many, order by "+order.name, nodes, later.Seconds()*1000, "ms")
			switch {
			case i == 0:
				plain = best
			case best < plain/2 || best < 20_000:
				t.Errorf("%s: %.0f pods a second on %d nodes; proportion alone %.0f", order.name, best, nodes, plain)
			}
			if later > 20*time.Millisecond {
				t.Errorf("%s: %v for one new gang on %d nodes", order.name, later, nodes)
			}
		}
	}
}
