package scheduler

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// mix is one load: numbers of shapes, gangs of a size, queues.
type mix struct {
	name                        string
	nodes, shapes, gang, queues int
	pods                        int
	conf                        string
	rules                       bool    // pods have affinity and spread constraints
	floor                       float64 // decided pods per second, on one core
}

// spreading prefers evenly used nodes. This is the expensive case for rankings: every placed pod changes the order
// of the nodes for every shape.
const spreading = `
actions: "enqueue, allocate, backfill, reclaim"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: predicates}, {name: proportion}, {name: nodeorder}]
`

// sizes lists the cluster sizes of every measurement, to show growth.
var sizes = []int{500, 2000, 5000}

// mixesOf returns the loads for a cluster size. Floors are for the 2-core development machine (Linux 6.18, amd64).
// All pods wait, and one Cycle decides them all. Only the processor time of Cycle counts, including garbage
// collection on other cores, the best of three. Processor time rather than wall-clock time reduces the effect of
// other work on the machine.
func mixesOf(nodes int) []mix {
	return []mix{
		{"decided pods/s, 50 shapes, gangs of 10, 20 queues", nodes, 50, 10, 20, 20 * nodes, "", false, 20_000},
		{"decided pods/s, 500 shapes, single pods, spread", nodes, 500, 1, 20, 10 * nodes, spreading, false, 5_000},
		{"decided pods/s, 500 shapes, single pods, pod affinity and topology spread", nodes, 500, 1, 20, 10 * nodes, spreading, true, 5_000},
		{"decided pods/s, one gang as large as the cluster", nodes, 1, nodes, 1, nodes, "", false, 20_000},
	}
}

// told prints a figure in the form from which docs/performance.md is generated.
func told(t testing.TB, name string, nodes int, value float64, unit string) {
	t.Logf("BENCH\t%s\t%d\t%.4g\t%s", name, nodes, value, unit)
}

// spent returns the processor time that the process has used.
func spent() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		panic(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

func measured(t *testing.T) {
	if os.Getenv("VC_BENCH") == "" {
		t.Skip("set VC_BENCH=1 (make bench) to measure")
	}
}

// TestCycleFloor fails if the engine is too slow. It runs only with VC_BENCH=1, because other work on the machine
// would distort the result.
func TestCycleFloor(t *testing.T) {
	measured(t)
	for _, nodes := range sizes {
		for _, m := range mixesOf(nodes) {
			t.Run(fmt.Sprintf("%d nodes: %s", nodes, m.name), func(t *testing.T) {
				best := 0.0
				for range 3 {
					e, c := m.load(t)
					runtime.GC()
					start := spent()
					d := e.Cycle(make.Epoch, c)
					best = max(best, float64(len(d.Binds))/(spent()-start).Seconds())
					if len(d.Binds) != m.pods {
						t.Fatalf("decided %d of %d pods", len(d.Binds), m.pods)
					}
				}
				told(t, m.name, nodes, best, "pods/s")
				if best < m.floor {
					t.Errorf("%.0f a second; the floor is %.0f", best, m.floor)
				}
			})
		}
	}
}

// TestAllocationFloor bounds the bytes that the loop allocates per decided pod: in the first cycle of an engine,
// and in a later one. The result is the same on every machine, so every test run checks the smallest cluster.
func TestAllocationFloor(t *testing.T) {
	wanted := sizes
	if os.Getenv("VC_BENCH") == "" {
		wanted = sizes[:1]
	}
	for _, nodes := range wanted {
		m := mixesOf(nodes)[0]
		e, c := m.load(t)
		for i, when := range []string{"first cycle", "later cycle"} { // nothing is assumed, so everything is decided again
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d := e.Cycle(make.Epoch.Add(time.Duration(i)*time.Second), c)
			runtime.ReadMemStats(&after)
			each := float64(after.Mallocs-before.Mallocs) / float64(len(d.Binds))
			told(t, "allocations a decided pod, "+when, nodes, each, "allocations")
			if len(d.Binds) != m.pods || each > 1 {
				t.Errorf("%d of %d pods decided with %.2f allocations each; the ceiling is 1", len(d.Binds), m.pods, each)
			}
		}
	}
}

// TestChangeFloor bounds the cost of one changed node or pod in a cluster where nothing waits: applying the change
// and a cycle.
func TestChangeFloor(t *testing.T) {
	measured(t)
	for _, nodes := range sizes {
		for _, rules := range []bool{false, true} {
			m := mix{nodes: nodes, shapes: 50, gang: 10, queues: 20, pods: 10 * nodes, rules: rules}
			e, c := m.load(t)
			now := make.Epoch
			settle := func() {
				now = now.Add(2 * time.Second)
				d := e.Cycle(now, c)
				decision.Assume(c, &d)
			}
			for range 10 {
				settle()
			}
			changes := []struct {
				name string
				do   func(i int)
			}{
				{"one changed node", func(i int) {
					c.Apply(model.NodeFrom(make.Node(fmt.Sprintf("node-%04d", i)).CPU("64").Memory("256Gi").Label("zone", fmt.Sprintf("z%d", i%10)).Label("seen", "yes").Obj()))
				}},
				{"one changed pod", func(i int) {
					c.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("other-%d", i)).CPU("1").On(fmt.Sprintf("node-%04d", i)).Phase("Running").Obj(), false))
				}},
			}
			for _, change := range changes {
				const times = 50
				start := time.Now()
				for i := range times {
					change.do(i)
					settle()
				}
				each := time.Since(start) / times
				name := change.name + " in an idle cluster"
				if rules {
					name += " of pods with affinity"
				}
				told(t, name, nodes, each.Seconds()*1000, "ms")
				if each > 5*time.Millisecond {
					t.Errorf("%s: %v a cycle on %d nodes; the ceiling is 5 ms", name, each, nodes)
				}
			}
		}
	}
}

// TestWhyNotFloor bounds the time to explain why a new gang cannot run on a full cluster.
func TestWhyNotFloor(t *testing.T) {
	measured(t)
	for _, nodes := range sizes {
		for _, rules := range []bool{false, true} {
			e, c := full(t, nodes)
			longest := time.Duration(0)
			for i := range 10 {
				addWhyNot(c, i, rules)
				start := time.Now()
				d := e.Cycle(make.Epoch.Add(time.Duration(i)*time.Second), c)
				longest = max(longest, time.Since(start))
				decision.Assume(c, &d)
				if len(d.Gangs) == 0 || d.Gangs[0].Status.Explanation == nil {
					t.Fatal("no explanation")
				}
			}
			name := "cannot run, because, for a new gang on a full cluster"
			if rules {
				name += ", with pod affinity"
			}
			told(t, name, nodes, longest.Seconds()*1000, "ms")
			if longest > time.Second {
				t.Errorf("%s: %v on %d nodes; the ceiling is 1 s", name, longest, nodes)
			}
		}
	}
}

// TestReclaimFloor bounds the time to plan the reclaim of 2,000 devices, for a gang of 250 and one of 2,000
// members. The issue's own cluster has 500 nodes.
func TestReclaimFloor(t *testing.T) {
	measured(t)
	for _, nodes := range sizes {
		for _, members := range []int{250, 2000} {
			e, c := greedy(t, nodes, members)
			start := time.Now()
			d := e.Cycle(make.Epoch, c)
			took := time.Since(start)
			told(t, fmt.Sprintf("reclaim plan that frees 2,000 GPUs for a gang of %d", members), nodes, took.Seconds()*1000, "ms")
			if len(d.Evicts) != 1000 || took > time.Second { // each pod has two devices
				t.Errorf("%d evictions planned on %d nodes in %v; the ceiling is 1 s", len(d.Evicts), nodes, took)
			}
		}
	}
}

// BenchmarkCycle is TestCycleFloor for profiles.
func BenchmarkCycle(b *testing.B) {
	for _, m := range mixesOf(5000) {
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
		name := fmt.Sprintf("node-%04d", i)
		c.Apply(model.NodeFrom(make.Node(name).CPU("64").Memory("256Gi").Label("zone", fmt.Sprintf("z%d", i%10)).Obj()))
	}
	for i := range m.queues {
		c.Apply(model.QueueFrom(make.Queue(fmt.Sprintf("q%02d", i)).Weight(int32(1 + i%4)).Obj()))
	}
	for g := range m.pods / m.gang {
		name := fmt.Sprintf("g%05d", g)
		c.Apply(model.GangFrom(make.Gang(name).Min(m.gang).Queue(fmt.Sprintf("q%02d", g%m.queues)).Obj()))
		shape := g % m.shapes
		for i := range m.gang {
			pod := make.Pod(fmt.Sprintf("%s-%d", name, i)).Gang(name).
				CPU(fmt.Sprintf("%dm", 1000+shape*2)).Memory(fmt.Sprintf("%dMi", 1024+shape)).Label("app", fmt.Sprintf("a%03d", shape))
			if m.rules {
				ruled(pod.Obj(), shape)
			}
			c.Apply(model.TaskFrom(pod.Obj(), true))
		}
	}
	return e, c
}

// ruled gives a pod typical rules: replicas on different nodes and spread over zones; all in one zone; near a
// cache, preferred; on different nodes, preferred, which requires evaluating every node.
func ruled(pod *corev1.Pod, shape int) {
	term := func(key, app string) corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}
	}
	own := pod.Labels["app"]
	spread := func(key string, when corev1.UnsatisfiableConstraintAction) {
		pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: when, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": own}},
		})
	}
	a := &corev1.Affinity{}
	switch shape % 4 {
	case 0:
		a.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term(corev1.LabelHostname, own)}}
		spread("zone", corev1.DoNotSchedule)
	case 1:
		a.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term("zone", own)}}
	case 2:
		a.PodAffinity = &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			{Weight: 50, PodAffinityTerm: term("zone", fmt.Sprintf("a%03d", (shape+1)%500))},
		}}
		spread("zone", corev1.ScheduleAnyway)
	case 3:
		a.PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			{Weight: 100, PodAffinityTerm: term(corev1.LabelHostname, own)},
		}}
	}
	pod.Spec.Affinity = a
}

// full is a cluster without idle resources.
func full(t testing.TB, nodes int) (*Engine, *model.Cluster) {
	e, c := mix{nodes: nodes, shapes: 1, gang: 1, queues: 1}.load(t)
	for i := range nodes {
		c.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("full-%d", i)).CPU("64").On(fmt.Sprintf("node-%04d", i)).Phase("Running").Obj(), false))
	}
	e.Cycle(make.Epoch, c)
	return e, c
}

// addWhyNot adds a gang that cannot run, with a shape of its own.
func addWhyNot(c *model.Cluster, i int, rules bool) {
	name := fmt.Sprintf("new-%d", i)
	c.Apply(model.GangFrom(make.Gang(name).Min(8).Queue("q00").Obj()))
	for k := range 8 {
		pod := make.Pod(fmt.Sprintf("%s-%d", name, k)).Gang(name).CPU(fmt.Sprintf("%dm", 1000+i)).Label("app", name)
		if rules {
			ruled(pod.Obj(), i)
		}
		c.Apply(model.TaskFrom(pod.Obj(), true))
	}
}

// greedy is a cluster of nodes with 8 devices each, all held by gangs of one queue, and a gang of another queue
// that deserves half of them and requests 2,000.
func greedy(t testing.TB, nodes, members int) (*Engine, *model.Cluster) {
	e, err := New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	c := model.New()
	c.Apply(model.QueueFrom(make.Queue("greedy").Obj()), model.QueueFrom(make.Queue("poor").Obj()))
	for i := range nodes {
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
