package scheduler

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/make"
)

// mix is one load: so many shapes, gangs of a size, queues.
type mix struct {
	name                        string
	nodes, shapes, gang, queues int
	pods                        int
	conf                        string
	floor                       float64 // decided pods a second, on one core
}

// spreading makes nodes equal in use, the dear case for rankings: every placed
// pod changes the order of the nodes for every shape.
const spreading = `
actions: "enqueue, allocate, backfill, reclaim"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: predicates}, {name: proportion}, {name: nodeorder}]
`

// Floors are for the 2-core machine this is developed on (Linux 6.18, amd64),
// one goroutine, garbage collection included; method: all pods wait, one Cycle
// decides them all, the time of Cycle alone counts.
var mixes = []mix{
	{"50 shapes, gangs of 10, 20 queues", 5000, 50, 10, 20, 100_000, "", 20_000},
	{"the same on 500 nodes", 500, 50, 10, 20, 10_000, "", 20_000},
	{"the same on 2000 nodes", 2000, 50, 10, 20, 40_000, "", 20_000},
	{"500 shapes, single pods, spread", 5000, 500, 1, 20, 50_000, spreading, 5_000},
	{"one gang of 5000", 5000, 1, 5000, 1, 5000, "", 20_000},
}

func BenchmarkCycle(b *testing.B) {
	for _, m := range mixes {
		b.Run(m.name, func(b *testing.B) {
			b.ReportAllocs()
			pods := 0
			for range b.N {
				b.StopTimer()
				e, c := m.load(b)
				b.StartTimer()
				d := e.Cycle(make.Epoch, c)
				pods += len(d.Binds)
			}
			b.ReportMetric(float64(pods)/b.Elapsed().Seconds(), "pods/s")
		})
	}
}

// TestCycleFloor fails when the engine is slower than it has to be. It runs with
// VC_BENCH=1 only: other work on the machine would make it lie.
func TestCycleFloor(t *testing.T) {
	if os.Getenv("VC_BENCH") == "" {
		t.Skip("set VC_BENCH=1 (make bench) to measure")
	}
	for _, m := range mixes {
		t.Run(m.name, func(t *testing.T) {
			e, c := m.load(t)
			start := time.Now()
			d := e.Cycle(make.Epoch, c)
			rate := float64(len(d.Binds)) / time.Since(start).Seconds()
			t.Logf("%d pods decided, %.0f a second", len(d.Binds), rate)
			if len(d.Binds) != m.pods || rate < m.floor {
				t.Errorf("decided %d of %d pods, %.0f a second; the floor is %.0f", len(d.Binds), m.pods, rate, m.floor)
			}
		})
	}
}

func (m mix) load(t testing.TB) (*Engine, *model.Cluster) {
	cfg := config.Default()
	if m.conf != "" {
		var err error
		if cfg, _, err = config.Parse([]byte(m.conf)); err != nil {
			t.Fatal(err)
		}
	}
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := model.New()
	for i := range m.nodes {
		c.Apply(model.NodeFrom(make.Node(fmt.Sprintf("node-%04d", i)).CPU("64").Memory("256Gi").Obj()))
	}
	for i := range m.queues {
		c.Apply(model.QueueFrom(make.Queue(fmt.Sprintf("q%02d", i)).Weight(int32(1 + i%4)).Obj()))
	}
	for g := range m.pods / m.gang {
		name := fmt.Sprintf("g%05d", g)
		c.Apply(model.GangFrom(make.Gang(name).Min(m.gang).Queue(fmt.Sprintf("q%02d", g%m.queues)).Obj()))
		shape := g % m.shapes
		for i := range m.gang {
			c.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("%s-%d", name, i)).Gang(name).
				CPU(fmt.Sprintf("%dm", 1000+shape*2)).Memory(fmt.Sprintf("%dMi", 1024+shape)).Obj(), true))
		}
	}
	return e, c
}
