package scheduler

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// throng is a cluster whose queues all want more than it has. Evicted pods are re-created, as by a controller.
type throng struct {
	t      *rapid.T
	engine *Engine
	model  *model.Cluster
	now    time.Time
	pods   map[string]*corev1.Pod
	made   int
}

func newThrong(t *rapid.T, conf string, deltas ...model.Delta) *throng {
	cfg, _, err := config.Parse([]byte(conf))
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := &throng{t: t, engine: e, model: model.New(), now: make.Epoch, pods: map[string]*corev1.Pod{}}
	c.model.Apply(deltas...)
	return c
}

// demand adds gangs of one size to a queue, up to a total number of cores.
func (c *throng) demand(queue string, cores, size int, elastic bool) {
	for cores > 0 {
		c.made++
		name := fmt.Sprintf("g%03d", c.made)
		least := size
		if elastic {
			least = 1
		}
		c.model.Apply(model.GangFrom(make.Gang(name).Min(least).Queue(queue).Age(time.Duration(c.made) * time.Second).Obj()))
		for i := range size {
			c.pods[fmt.Sprintf("%s-%d", name, i)] = make.Pod(fmt.Sprintf("%s-%d", name, i)).Gang(name).CPU("1").Obj()
			c.model.Apply(model.TaskFrom(c.pods[fmt.Sprintf("%s-%d", name, i)], true))
		}
		cores -= size
	}
}

// cycle runs a cycle and carries it out in the API. It returns whether anything changed.
func (c *throng) cycle() bool {
	c.now = c.now.Add(2 * time.Second)
	d := c.engine.Cycle(c.now, c.model)
	decision.Assume(c.model, &d)
	for _, b := range d.Binds {
		p := c.pods[b.Pod.Name]
		p.Spec.NodeName, p.Status.Phase = b.Node, corev1.PodRunning
		c.model.Apply(model.TaskFrom(p, true))
	}
	for _, e := range d.Evicts {
		old := c.pods[e.Pod.Name]
		c.model.Apply(model.TaskGone{Namespace: old.Namespace, Name: old.Name, UID: old.UID})
		fresh := make.Pod(old.Name).Gang(old.Annotations["scheduling.k8s.io/group-name"]).CPU("1").Obj()
		c.made++
		fresh.UID += "-" + old.UID[max(len(old.UID)-4, 0):] + fresh.UID
		c.pods[old.Name] = fresh
		c.model.Apply(model.TaskFrom(fresh, true))
	}
	return len(d.Binds)+len(d.Evicts)+len(d.Nominations) > 0
}

// settle runs cycles until nothing changes, up to a maximum.
func (c *throng) settle(most int) {
	for range most {
		if !c.cycle() {
			return
		}
	}
	c.t.Fatalf("does not settle in %d cycles", most)
}

func (c *throng) held(queue string) int {
	return int(c.model.Queues[queue].Sums.Allocated.Get(resource.CPU)) / 1000
}

const shareTiers = `
actions: "enqueue, allocate, backfill, reclaim"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: predicates}, %s]
`

// TestQueuesConvergeToWhatTheyDeserve (I9) checks that queues that want more than the cluster has get what they
// deserve, up to one gang, whichever came first, and that nothing changes afterwards.
func TestQueuesConvergeToWhatTheyDeserve(t *testing.T) {
	kinds := map[string]string{
		"proportion":      "{name: proportion}",
		"capacity":        "{name: capacity}",
		"capacity's tree": "{name: capacity, enableHierarchy: true}",
	}
	for name, policy := range kinds {
		t.Run(name, func(t *testing.T) {
			propertytest.Check(t, 10000, func(t *rapid.T) { converge(t, name, fmt.Sprintf(shareTiers, policy)) })
		})
	}
}

func converge(t *rapid.T, kind, conf string) {
	n := rapid.IntRange(2, 4).Draw(t, "queues")
	var deltas []model.Delta
	deserved, total := map[string]float64{}, 0
	var names []string
	weights := 0
	for i := range n {
		name := fmt.Sprintf("q%d", i)
		w := rapid.IntRange(1, 4).Draw(t, "part")
		names = append(names, name)
		deserved[name] = float64(w)
		weights += w
	}
	cores := rapid.IntRange(1, 3).Draw(t, "cores a part")
	for i := range weights {
		deltas = append(deltas, model.NodeFrom(make.Node(fmt.Sprintf("n%d", i)).CPU(fmt.Sprint(cores)).Resource("pods", "50").Obj()))
	}
	total = weights * cores
	if kind == "capacity's tree" {
		deltas = append(deltas, model.QueueFrom(make.Queue("root").Obj()),
			model.QueueFrom(make.Queue("left").Parent("root").Obj()), model.QueueFrom(make.Queue("right").Parent("root").Obj()))
	}
	for i, name := range names {
		b := make.Queue(name).Weight(int32(deserved[name]))
		deserved[name] *= float64(cores)
		if kind != "proportion" {
			b.Deserved("cpu", fmt.Sprint(deserved[name]))
		}
		if kind == "capacity's tree" {
			b.Parent([]string{"left", "right"}[i%2])
		}
		deltas = append(deltas, model.QueueFrom(b.Obj()))
	}
	c := newThrong(t, conf, deltas...)
	sizes := map[string]int{}
	order := rapid.Permutation(names).Draw(t, "order")
	for _, name := range order {
		size := rapid.IntRange(1, 3).Draw(t, "size")
		elastic := rapid.Bool().Draw(t, "elastic")
		sizes[name] = 1
		if !elastic {
			size = min(size, int(deserved[name])) // larger gangs are not entitled to start
			sizes[name] = size
		}
		wanted := total + 3
		if elastic { // resources are reclaimed only for minimums
			wanted *= size
		}
		c.demand(name, wanted, size, elastic)
		if rapid.Bool().Draw(t, "settle between") {
			c.settle(60)
		}
	}
	c.settle(120)
	sum := 0
	for _, name := range names {
		sum += c.held(name)
		// Other queues use what is left if no gang fits into the rest of a share. Holdings beyond the deserved
		// amount are then bounded only by what the other queues do not get.
		if got, want := c.held(name), int(deserved[name]); got <= want-sizes[name] {
			t.Fatalf("queue %s holds %d of %d cores and deserves %d; its gangs have %d; order %v", name, got, total, want, sizes[name], order)
		}
	}
	if sum > total {
		t.Fatalf("%d of %d cores are held", sum, total)
	}
}
