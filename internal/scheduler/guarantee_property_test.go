package scheduler

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// promises is a set of queues, some of which have guarantees.
type promises struct {
	*throng
	queues []*promised
	// parents holds the inner queues of a tree and their limits; -1 for no limit of their own.
	parents map[string]int
	total   int
	// weights is true if queues have weights and no deserved amounts.
	weights bool
	// rigid is true if some gangs of queues with a guarantee can only be evicted as a whole. A guarantee of another
	// queue may then be used by a gang that could only be evicted together with its own queue's guarantee, so the
	// other queue must wait for its end.
	rigid bool
}

// promised is a leaf queue with its guarantee and its deserved amount.
type promised struct {
	name, parent        string
	weight              int
	guarantee, deserved int
	// late is true if its guarantee is set when the cluster is full.
	late bool
	// asks is true if it submits nothing until others use the whole cluster, and then its guarantee and some more.
	asks  bool
	extra int
}

const promiseTiers = `
actions: "enqueue, allocate, backfill, %s"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: predicates}, %s]
`

// TestGuaranteesAreKept (I3) checks that no action takes a guarantee from its queue, and that a queue gets a
// borrowed guarantee back some cycles after requesting it, in flat queues and in trees, also if the guarantee was
// set only after others used the resources.
func TestGuaranteesAreKept(t *testing.T) {
	taken := map[string]int{}
	whole := propertytest.Check(t, 10000, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"proportion", "capacity", "capacity's tree"}).Draw(t, "kind")
		policy := map[string]string{"proportion": "{name: proportion}", "capacity": "{name: capacity}"}[kind]
		if policy == "" {
			policy = fmt.Sprintf("{name: capacity, enableHierarchy: true, arguments: {ancestorReclaimLevel: %d}}", rapid.IntRange(0, 2).Draw(t, "level"))
		}
		actions := rapid.SampledFrom([]string{"reclaim", "gangreclaim", "reclaim, preempt", "preempt, reclaim", "gangpreempt, gangreclaim"}).Draw(t, "actions")
		p := drawPromises(t, fmt.Sprintf(promiseTiers, actions, policy), kind == "proportion", kind == "capacity's tree")
		taken[kind] += p.run()
	})
	t.Logf("taken back: %v", taken)
	if whole && len(taken) < 3 {
		t.Errorf("pods were taken back by these alone: %v", taken)
	}
}

// drawPromises draws nodes and queues. The guarantees, and the deserved amounts if set, do not exceed the cluster.
func drawPromises(t *rapid.T, conf string, weights, tree bool) *promises {
	var deltas []model.Delta
	total := 0
	for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
		cores := rapid.IntRange(1, 6).Draw(t, "cores")
		total += cores
		deltas = append(deltas, model.NodeFrom(make.Node(fmt.Sprintf("n%d", i)).CPU(fmt.Sprint(cores)).Resource("pods", "100").Obj()))
	}
	for name, value := range map[string]int32{"low": 1, "high": 10} {
		deltas = append(deltas, model.PriorityClassSet{Name: name, Value: value})
	}
	p := &promises{parents: map[string]int{}, total: total, weights: weights, rigid: rapid.IntRange(0, 2).Draw(t, "rigid") == 0}
	unguaranteed, undeserved := total, total
	for i := range rapid.IntRange(2, 5).Draw(t, "queues") {
		q := &promised{name: fmt.Sprintf("q%d", i), weight: rapid.IntRange(1, 5).Draw(t, "weight")}
		if rapid.Bool().Draw(t, "guaranteed") {
			q.guarantee = rapid.IntRange(0, min(unguaranteed, undeserved)).Draw(t, "guarantee")
			q.late = rapid.Bool().Draw(t, "late")
		}
		q.deserved = rapid.IntRange(q.guarantee, undeserved).Draw(t, "deserved")
		unguaranteed, undeserved = unguaranteed-q.guarantee, undeserved-q.deserved
		q.asks, q.extra = rapid.Bool().Draw(t, "asks"), rapid.IntRange(0, 4).Draw(t, "extra")
		if tree {
			q.parent = rapid.SampledFrom([]string{"left", "right", "root"}).Draw(t, "parent")
		}
		p.queues = append(p.queues, q)
	}
	if tree {
		deltas = append(deltas, model.QueueFrom(make.Queue("root").Obj()))
		for _, parent := range []string{"left", "right"} {
			b, deserved := make.Queue(parent).Parent("root"), 0
			for _, q := range p.queues {
				if q.parent == parent {
					deserved += q.deserved
				}
			}
			if p.parents[parent] = -1; rapid.Bool().Draw(t, "limited") {
				p.parents[parent] = rapid.IntRange(deserved, total).Draw(t, "limit")
				b.Capability("cpu", fmt.Sprint(p.parents[parent]))
			}
			deltas = append(deltas, model.QueueFrom(b.Obj()))
		}
	}
	p.throng = newThrong(t, conf, deltas...)
	for _, q := range p.queues {
		p.tell(q, !q.late)
	}
	return p
}

// tell adds a queue to the model, with or without its guarantee.
func (p *promises) tell(q *promised, guaranteed bool) {
	b := make.Queue(q.name).Weight(int32(q.weight)).Parent(q.parent)
	if !p.weights {
		b.Deserved("cpu", fmt.Sprint(q.deserved))
	}
	if guaranteed && q.guarantee > 0 {
		b.Guarantee("cpu", fmt.Sprint(q.guarantee))
	}
	p.model.Apply(model.QueueFrom(b.Obj()))
}

// submit adds gangs of one size to a queue, up to a total number of cores.
func (p *promises) submit(queue string, cores, size, least int) {
	class := rapid.SampledFrom([]string{"low", "high"}).Draw(p.t, "class")
	outside := rapid.Bool().Draw(p.t, "at the gate")
	for ; cores > 0; cores -= size {
		p.made++
		name := fmt.Sprintf("g%03d", p.made)
		b := make.Gang(name).Min(least).Queue(queue).PriorityClass(class).Age(time.Duration(p.made) * time.Second)
		if outside {
			b.MinResource("cpu", fmt.Sprint(least))
		}
		p.model.Apply(model.GangFrom(b.Obj()))
		for i := range size {
			pod := make.Pod(fmt.Sprintf("%s-%d", name, i)).Gang(name).CPU("1").Obj()
			p.pods[pod.Name] = pod
			p.model.Apply(model.TaskFrom(pod, true))
		}
	}
}

// run lets the other queues take what they can, and then the asking queues submit. It returns how many pods these
// reclaimed.
func (p *promises) run() (taken int) {
	for _, q := range rapid.Permutation(p.queues).Draw(p.t, "order") {
		if q.asks {
			continue
		}
		size := rapid.IntRange(1, 3).Draw(p.t, "size")
		least := size
		if q.guarantee > 0 && !p.rigid {
			least = 1
		}
		p.submit(q.name, p.total+3, size, rapid.IntRange(1, least).Draw(p.t, "min"))
		p.settle()
	}
	for _, q := range p.queues {
		if q.late {
			p.tell(q, true)
		}
	}
	for _, q := range p.queues {
		if cores := q.guarantee + q.extra; q.asks && cores > 0 {
			p.submit(q.name, cores, 1, 1)
		}
	}
	taken = p.settle()
	for _, q := range p.queues {
		if held := p.held(q.name); q.asks && held < q.guarantee && !p.rigid {
			p.t.Fatalf("queue %s is guaranteed %d of %d cores, asks for %d and has %d\n%s", q.name, q.guarantee, p.total, q.guarantee+q.extra, held, p)
		}
	}
	return taken
}

// settle runs cycles until nothing changes. It returns how many pods were evicted.
func (p *promises) settle() (evicted int) {
	for quiet, cycle := 0, 0; quiet < 2; cycle++ {
		if cycle == 60 {
			p.t.Fatalf("does not settle in %d cycles\n%s", cycle, p)
		}
		out, happened := p.step()
		if quiet++; happened {
			quiet = 0
		}
		evicted += out
	}
	return evicted
}

// step runs a cycle, carries it out, and checks the evictions against the guarantees.
func (p *promises) step() (evicted int, happened bool) {
	p.now = p.now.Add(2 * time.Second)
	before := map[string]int{}
	for _, q := range p.queues {
		before[q.name] = p.held(q.name)
	}
	d := p.engine.Cycle(p.now, p.model)
	lost := map[string]int{}
	for _, e := range d.Evicts {
		from, to := p.model.Gangs[e.Gang.Key()].Queue.Name, p.model.Gangs[e.Preemptor.Key()].Queue.Name
		if from != to {
			lost[from]++
		}
	}
	for _, b := range d.Binds {
		before[p.model.Gangs[b.Gang.Key()].Queue.Name]++
	}
	for _, q := range p.queues {
		if rest := before[q.name] - lost[q.name]; lost[q.name] > 0 && rest < q.guarantee && p.model.Queues[q.name].Guarantee.Get(resource.CPU) > 0 {
			p.t.Fatalf("queue %s is guaranteed %d and is left with %d of %d: %+v\n%s", q.name, q.guarantee, rest, before[q.name], d.Evicts, p)
		}
	}
	decision.Assume(p.model, &d)
	for _, b := range d.Binds {
		pod := p.pods[b.Pod.Name]
		pod.Spec.NodeName, pod.Status.Phase = b.Node, corev1.PodRunning
		p.model.Apply(model.TaskFrom(pod, true))
	}
	for _, e := range d.Evicts {
		p.again(p.pods[e.Pod.Name])
	}
	return len(d.Evicts), len(d.Binds)+len(d.Evicts)+len(d.Nominations) > 0
}

// again ends an evicted pod and re-creates it, as its controller would.
func (p *promises) again(old *corev1.Pod) {
	p.model.Apply(model.TaskGone{Namespace: old.Namespace, Name: old.Name, UID: old.UID})
	p.made++
	fresh := old.DeepCopy()
	fresh.UID = types.UID(fmt.Sprintf("%s-%d", old.Name, p.made))
	fresh.Spec.NodeName, fresh.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
	p.pods[old.Name] = fresh
	p.model.Apply(model.TaskFrom(fresh, true))
}

// String describes the queues for a failure message.
func (p *promises) String() string {
	out := fmt.Sprintf("%d cores; may hold %v\n", p.total, p.parents)
	for _, q := range p.queues {
		out += fmt.Sprintf("%s below %q: weight %d, deserves %d, guaranteed %d (late %v), asks %v, holds %d\n", q.name, q.parent, q.weight, q.deserved, q.guarantee, q.late, q.asks, p.held(q.name))
	}
	return out + clustertest.Describe(p.model)
}
