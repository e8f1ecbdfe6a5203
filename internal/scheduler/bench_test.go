package scheduler

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
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

// greedy is a cluster of 500 nodes with 8 devices each, all held by gangs of one
// queue, and a gang of another queue that deserves half of them.
func greedy(t testing.TB, members int) (*Engine, *model.Cluster) {
	e, err := New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	c := model.New()
	c.Apply(model.QueueFrom(make.Queue("greedy").Obj()), model.QueueFrom(make.Queue("poor").Obj()))
	for i := range 500 {
		node := fmt.Sprintf("node-%04d", i)
		c.Apply(model.NodeFrom(make.Node(node).CPU("64").Memory("256Gi").GPU(8).Obj()))
		gang := fmt.Sprintf("g%04d", i)
		c.Apply(model.GangFrom(make.Gang(gang).Min(4).Queue("greedy").Phase("Running").Obj()))
		for k := range 4 {
			c.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("%s-%d", gang, k)).Gang(gang).GPU(2).CPU("1").On(node).Phase("Running").Obj(), true))
		}
	}
	c.Apply(model.GangFrom(make.Gang("taker").Min(members).Queue("poor").Phase("Inqueue").Obj()))
	for i := range members {
		c.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("taker-%d", i)).Gang("taker").GPU(2000/members).CPU("1").Obj(), true))
	}
	return e, c
}

// BenchmarkReclaim plans the freeing of 2,000 devices for gangs of 250 and of
// 2,000 members.
func BenchmarkReclaim(b *testing.B) {
	for _, members := range []int{250, 2000} {
		b.Run(fmt.Sprint(members), func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				e, c := greedy(b, members)
				b.StartTimer()
				d := e.Cycle(make.Epoch, c)
				b.ReportMetric(float64(len(d.Evicts)), "victims")
			}
		})
	}
}

// BenchmarkWhyNot is the time to say why a new gang cannot run on a full cluster
// of 5,000 nodes.
func BenchmarkWhyNot(b *testing.B) {
	m := mix{nodes: 5000, shapes: 1, gang: 1, queues: 1, pods: 0}
	e, c := m.load(b)
	for i := range 5000 {
		c.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("full-%d", i)).CPU("64").On(fmt.Sprintf("node-%04d", i)).Phase("Running").Obj(), false))
	}
	e.Cycle(make.Epoch, c)
	for i := range b.N {
		name := fmt.Sprintf("new-%d", i)
		c.Apply(model.GangFrom(make.Gang(name).Min(8).Queue("q00").Obj()))
		for k := range 8 {
			c.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("%s-%d", name, k)).Gang(name).CPU(fmt.Sprintf("%dm", 1000+i)).Obj(), true))
		}
		d := e.Cycle(make.Epoch.Add(time.Duration(i)*time.Second), c)
		decision.Assume(c, &d)
		if len(d.Gangs) == 0 || d.Gangs[0].Status.Explanation == nil {
			b.Fatal("no explanation")
		}
	}
}
