package scheduler

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/seeds"
)

// crowd is a full cluster of one greedy queue, and a gang of another that wants
// its share back.
type crowd struct {
	nodes []*corev1.Node
	gangs []crowdGang
	taker crowdGang
	// text is the configuration, but for its actions; "": the default one.
	text string
	// classes are the priority classes of the taker and the gangs; nil: all alike.
	classes []string
}

type crowdGang struct {
	name  string
	queue string
	min   int
	pods  []*corev1.Pod
}

// cluster builds the model without the pods that left, and without the taker's
// rivals.
func (w *crowd) cluster(left map[string]bool) *model.Cluster {
	c := model.New()
	c.Apply(model.QueueFrom(make.Queue("greedy").Deserved("cpu", "1").Obj()), model.QueueFrom(make.Queue("poor").Deserved("cpu", "12").Obj()))
	for name, value := range map[string]int32{"low": -10, "mid": 5, "high": 10} {
		c.Apply(model.PriorityClassSet{Name: name, Value: value})
	}
	for _, n := range w.nodes {
		c.Apply(model.NodeFrom(n))
	}
	for _, g := range append(w.gangs, w.taker) {
		pg := make.Gang(g.name).Min(g.min).Queue(g.queue).PriorityClass(w.classOf(g.name)).Obj()
		pg.UID = types.UID(g.name)
		pg.Status.Phase = "Inqueue"
		c.Apply(model.GangFrom(pg))
		for _, p := range g.pods {
			if !left[p.Name] {
				c.Apply(model.TaskFrom(p, true))
			}
		}
	}
	return c
}

func drawCrowd(t *rapid.T) *crowd {
	w := &crowd{}
	free := map[string]int{}
	for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
		name, cpu := fmt.Sprintf("n%d", i), rapid.IntRange(1, 6).Draw(t, "cpu")
		w.nodes = append(w.nodes, make.Node(name).CPU(fmt.Sprint(cpu)).Obj())
		free[name] = cpu
	}
	for i := range rapid.IntRange(1, 8).Draw(t, "gangs") {
		g := crowdGang{name: fmt.Sprintf("g%d", i), queue: "greedy"}
		for k := range rapid.IntRange(1, 3).Draw(t, "pods") {
			cpu := rapid.IntRange(1, 3).Draw(t, "asks")
			for _, n := range w.nodes {
				if free[n.Name] >= cpu {
					free[n.Name] -= cpu
					p := make.Pod(fmt.Sprintf("%s-%d", g.name, k)).Gang(g.name).CPU(fmt.Sprint(cpu)).On(n.Name).Phase(corev1.PodRunning)
					if rapid.IntRange(0, 9).Draw(t, "protected") == 0 {
						p.Annotation("volcano.sh/preemptable", "false")
					}
					g.pods = append(g.pods, p.Obj())
					break
				}
			}
		}
		if len(g.pods) > 0 {
			g.min = rapid.IntRange(1, len(g.pods)).Draw(t, "min")
			w.gangs = append(w.gangs, g)
		}
	}
	w.taker = crowdGang{name: "taker", queue: "poor"}
	cpu := rapid.IntRange(1, 3).Draw(t, "wants")
	for k := range rapid.IntRange(1, 4).Draw(t, "members") {
		w.taker.pods = append(w.taker.pods, make.Pod(fmt.Sprintf("taker-%d", k)).Gang("taker").CPU(fmt.Sprint(cpu)).Obj())
	}
	w.taker.min = len(w.taker.pods)
	return w
}

// reclaimers are configurations in which a queue takes back what it deserves, of several kinds.
var reclaimers = []string{"", `
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: predicates}, {name: capacity}, {name: nodeorder}]
`, `
tiers:
- plugins: [{name: priority}, {name: gang}, {name: drf, enablePreemptable: false}]
- plugins: [{name: predicates}, {name: proportion}, {name: binpack}]
`}

func (w *crowd) engine(t *rapid.T, actions ...string) *Engine {
	cfg := config.Default()
	if w.text != "" {
		var err error
		if cfg, _, err = config.Parse([]byte("actions: allocate\n" + w.text)); err != nil {
			t.Fatal(err)
		}
	}
	if len(actions) > 0 {
		cfg.Actions = actions
	}
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// starts says whether the taker is bound whole by action allocate alone.
func (w *crowd) starts(t *rapid.T, left map[string]bool) bool {
	e := w.engine(t, "allocate")
	bound := 0
	d := e.Cycle(make.Epoch, w.cluster(left))
	for _, b := range d.Binds {
		if b.Gang.Name == "taker" {
			bound++
		}
	}
	return bound == w.taker.min
}

// TestReclaimIsMinimal checks what is evicted (I7): the taker starts once the
// victims have left; it would not if any one of them (a surplus pod, or a whole
// gang) had stayed; nobody protected is touched; no gang is left below its
// minimum but not gone; and nothing is evicted for a gang that fits anyway.
// So it is with reclaim and gangreclaim, by weights and by amounts.
func TestReclaimIsMinimal(t *testing.T) {
	tried, evicted := 0, 0
	seeds.Check(t, 10000, func(t *rapid.T) {
		w := drawCrowd(t)
		w.text = rapid.SampledFrom(reclaimers).Draw(t, "configuration")
		e := w.engine(t, "enqueue", "allocate", "backfill", rapid.SampledFrom([]string{"reclaim", "gangreclaim"}).Draw(t, "action"))
		d := e.Cycle(make.Epoch.Add(time.Second), w.cluster(nil))
		tried++
		if len(d.Evicts) == 0 {
			return
		}
		evicted++
		left, units := map[string]bool{}, map[string][]string{}
		for _, v := range d.Evicts {
			left[v.Pod.Name] = true
			units[v.Gang.Name] = append(units[v.Gang.Name], v.Pod.Name)
		}
		if !w.starts(t, left) {
			t.Fatalf("evicted %v, and the taker still does not start", units)
		}
		if w.starts(t, nil) {
			t.Fatalf("evicted %v for a gang that fits", units)
		}
		for _, g := range w.gangs {
			w.checkGang(t, g, units[g.name], left)
		}
	})
	t.Logf("%d of %d clusters had victims", evicted, tried)
}

func (w *crowd) checkGang(t *rapid.T, g crowdGang, victims []string, left map[string]bool) {
	if len(victims) == 0 {
		return
	}
	for _, p := range g.pods {
		if left[p.Name] && p.Annotations["volcano.sh/preemptable"] == "false" {
			t.Fatalf("%s is protected and evicted", p.Name)
		}
	}
	rest := len(g.pods) - len(victims)
	if rest > 0 && rest < g.min {
		t.Fatalf("gang %s is left with %d of %d", g.name, rest, g.min)
	}
	units := [][]string{victims} // a whole gang comes back whole
	if rest > 0 {
		units = nil
		for _, name := range victims {
			units = append(units, []string{name})
		}
	}
	for _, unit := range units {
		for _, name := range unit {
			delete(left, name)
		}
		if w.starts(t, left) {
			t.Fatalf("%v need not have gone", unit)
		}
		for _, name := range unit {
			left[name] = true
		}
	}
}
