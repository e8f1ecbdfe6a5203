package capacity_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

const conf = `
actions: "enqueue, allocate, backfill, %s"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: predicates}, {name: capacity, enableHierarchy: true, arguments: {ancestorReclaimLevel: %d}}]
`

// spec is the spec of a queue; -1 means unset.
type spec struct {
	name, parent   string
	cap, guarantee int
}

// TestNoLevelIsExceeded (I3) adds random gangs to random trees of queues, some of them invalid, and checks after
// every cycle: no admission takes a queue or an ancestor over its capability, or into another queue's guarantee,
// and no eviction takes a guarantee away, whichever action evicts.
func TestNoLevelIsExceeded(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		cfg, _, err := config.Parse([]byte(fmt.Sprintf(conf, rapid.SampledFrom([]string{"reclaim", "gangreclaim", "preempt, reclaim", "gangpreempt, gangreclaim"}).Draw(t, "evict"), rapid.IntRange(0, 2).Draw(t, "level"))))
		if err != nil {
			t.Fatal(err)
		}
		e, err := scheduler.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		c := model.New()
		total := rapid.IntRange(1, 16).Draw(t, "cores")
		for name, value := range map[string]int32{"low": 1, "high": 10} {
			c.Apply(model.PriorityClassSet{Name: name, Value: value})
		}
		c.Apply(model.NodeFrom(make.Node("n").CPU(fmt.Sprint(total)).Resource("pods", "200").Obj()))
		specs := tree(t, c)
		pods := map[string]*corev1.Pod{}
		now := make.Epoch
		for step := range rapid.IntRange(1, 12).Draw(t, "steps") {
			submit(t, c, specs, pods, step)
			before := held(c, specs)
			now = now.Add(2 * time.Second)
			d := e.Cycle(now, c)
			decision.Assume(c, &d)
			check(t, specs, before, held(c, specs), passedOn(c, specs, &d), total)
			for _, b := range d.Binds {
				p := pods[b.Pod.Name]
				p.Spec.NodeName, p.Status.Phase = b.Node, corev1.PodRunning
				c.Apply(model.TaskFrom(p, true))
			}
			for _, evicted := range d.Evicts {
				c.Apply(model.TaskGone{Namespace: "default", Name: evicted.Pod.Name, UID: evicted.Pod.UID})
				delete(pods, evicted.Pod.Name)
			}
		}
	})
}

func tree(t *rapid.T, c *model.Cluster) map[string]spec {
	specs := map[string]spec{"root": {name: "root", cap: -1, guarantee: 0}}
	c.Apply(model.QueueFrom(make.Queue("root").Obj()))
	n := rapid.IntRange(2, 7).Draw(t, "queues")
	for i := range n {
		s := spec{name: fmt.Sprintf("q%d", i), parent: "root", cap: rapid.IntRange(-1, 10).Draw(t, "cap"), guarantee: rapid.IntRange(0, 3).Draw(t, "guarantee")}
		switch k := rapid.IntRange(-1, n).Draw(t, "parent"); {
		case k == n:
			s.parent = "missing"
		case k >= 0:
			s.parent = fmt.Sprintf("q%d", k) // including itself and cycles
		}
		b := make.Queue(s.name).Parent(s.parent).Guarantee("cpu", fmt.Sprint(s.guarantee))
		if s.cap >= 0 {
			b.Capability("cpu", fmt.Sprint(s.cap))
		}
		if d := rapid.IntRange(-1, 8).Draw(t, "deserved"); d >= 0 {
			b.Deserved("cpu", fmt.Sprint(d))
		}
		specs[s.name] = s
		c.Apply(model.QueueFrom(b.Obj()))
	}
	return specs
}

func submit(t *rapid.T, c *model.Cluster, specs map[string]spec, pods map[string]*corev1.Pod, step int) {
	name := fmt.Sprintf("g%d", step)
	queue := fmt.Sprintf("q%d", rapid.IntRange(0, len(specs)-2).Draw(t, "queue"))
	tasks := rapid.IntRange(1, 5).Draw(t, "tasks")
	least := rapid.IntRange(1, tasks).Draw(t, "min")
	c.Apply(model.GangFrom(make.Gang(name).Min(least).MinResource("cpu", fmt.Sprint(least)).Queue(queue).PriorityClass(rapid.SampledFrom([]string{"low", "high"}).Draw(t, "class")).Age(time.Duration(step) * time.Second).Obj()))
	for i := range tasks {
		p := make.Pod(fmt.Sprintf("%s-%d", name, i)).Gang(name).CPU("1").Obj()
		pods[p.Name] = p
		c.Apply(model.TaskFrom(p, true))
	}
}

// above returns the queue and its ancestors; whole reports whether the path ends at the root.
func above(specs map[string]spec, name string) (path []string, whole bool) {
	for len(path) <= len(specs) {
		path = append(path, name)
		if name == "root" {
			return path, true
		}
		s, ok := specs[name]
		if !ok {
			return path, false
		}
		name = s.parent
	}
	return path, false
}

// held returns what queues with a position in the tree hold, including their descendants.
func held(c *model.Cluster, specs map[string]spec) map[string]int {
	sums := map[string]int{}
	for name := range specs {
		own := int(c.Queues[name].Sums.Allocated.Get(resource.CPU)) / 1000
		path, whole := above(specs, name)
		if !whole {
			sums[name] += own
			continue
		}
		for _, p := range path {
			sums[p] += own
		}
	}
	return sums
}

// kept returns what must be reserved for a queue: its guarantee, or the sum over its children if that is more, at
// most its capability.
func kept(specs map[string]spec, name string) int {
	sum := 0
	for _, s := range specs {
		if s.parent == name && s.name != name {
			if _, whole := above(specs, s.name); whole {
				sum += kept(specs, s.name)
			}
		}
	}
	sum = max(sum, specs[name].guarantee)
	if limit := specs[name].cap; limit >= 0 {
		return min(sum, limit)
	}
	return sum
}

// passedOn returns what a queue lost to a gang of its own branch, which gets it when the victims are gone.
func passedOn(c *model.Cluster, specs map[string]spec, d *decision.Decisions) map[string]int {
	sums := map[string]int{}
	for _, e := range d.Evicts {
		from, _ := above(specs, c.Gangs[e.Gang.Key()].Queue.Name)
		to, _ := above(specs, c.Gangs[e.Preemptor.Key()].Queue.Name)
		for _, name := range from {
			if slices.Contains(to, name) {
				sums[name]++
			}
		}
	}
	return sums
}

func check(t *rapid.T, specs map[string]spec, before, after, passedOn map[string]int, total int) {
	for name, s := range specs {
		path, whole := above(specs, name)
		grew := after[name] > before[name]
		if !whole {
			if grew {
				t.Fatalf("queue %s has no place in the tree (%v) and holds %d, before %d", name, path, after[name], before[name])
			}
			continue
		}
		if grew && s.cap >= 0 && after[name] > s.cap {
			t.Fatalf("queue %s holds %d over its capability %d", name, after[name], s.cap)
		}
		if name == "root" || !grew {
			continue
		}
		room := total // capacity of the parent
		if p := specs[s.parent]; p.name != "root" && p.cap >= 0 {
			room = min(room, p.cap)
		}
		others := 0
		for _, o := range specs {
			if _, ok := above(specs, o.name); ok && o.parent == s.parent && o.name != name && o.name != "root" {
				others += kept(specs, o.name)
			}
		}
		if others+kept(specs, name) > room { // the guarantees exceed the capacity
			continue
		}
		if after[name] > room-others {
			t.Fatalf("queue %s holds %d of %d, of which %d are guaranteed to its siblings: %v, before %v, after %v", name, after[name], room, others, specs, before, after)
		}
	}
	for name, s := range specs { // only a queue of the same branch may take a guarantee
		if _, whole := above(specs, name); whole && after[name] < before[name] && after[name]+passedOn[name] < min(s.guarantee, before[name]) && !grewBelow(specs, name, before, after) {
			t.Fatalf("queue %s is guaranteed %d and is left with %d of %d", name, s.guarantee, after[name], before[name])
		}
	}
}

// grewBelow reports whether a queue below the given one got more: it took from its own branch.
func grewBelow(specs map[string]spec, name string, before, after map[string]int) bool {
	for other := range specs {
		if path, whole := above(specs, other); whole && other != name && slices.Contains(path, name) && after[other] > before[other] {
			return true
		}
	}
	return false
}
