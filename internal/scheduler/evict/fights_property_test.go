package evict_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// attacks has every action that evicts, with policies that grant and protect.
const attacks = `
actions: "enqueue, allocate, backfill, %s"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}, {name: pdb}, {name: cdp}]
- plugins: [{name: drf}, {name: predicates}, {name: proportion}]
`

// sharesFirst has dominant shares decide before priority.
const sharesFirst = `
actions: "enqueue, allocate, backfill, %s"
tiers:
- plugins: [{name: drf}, {name: gang, enableJobStarving: false}, {name: conformance}, {name: pdb}, {name: cdp}]
- plugins: [{name: priority}, {name: predicates}, {name: proportion}]
`

// fight is a cluster in which gangs evict each other. Owners re-create evicted pods; nothing else changes.
type fight struct {
	t      *rapid.T
	engine *scheduler.Engine
	model  *model.Cluster
	now    time.Time
	pods   map[string]*corev1.Pod
	gangs  map[string]int // minimum by gang
	rank   map[string]int32
	// jobs holds the jobs of the gangs that are of one, and queueOf the queues of all gangs.
	jobs, queueOf map[string]string
	budget        *policyv1.PodDisruptionBudget
	// The evictions by pairs of gangs, since the last other change.
	took map[[2]string]int
	made int
	// ranked is true if no gang of a higher priority is preempted, so that an entitlement to resources never ends.
	ranked bool
}

func drawFight(t *rapid.T, text, actions string) *fight {
	cfg, _, err := config.Parse([]byte(fmt.Sprintf(text, actions)))
	if err != nil {
		t.Fatal(err)
	}
	e, err := scheduler.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := &fight{t: t, ranked: text == attacks, engine: e, model: model.New(), now: make.Epoch.Add(time.Hour), pods: map[string]*corev1.Pod{}, gangs: map[string]int{}, rank: map[string]int32{}, jobs: map[string]string{}, queueOf: map[string]string{}, took: map[[2]string]int{}}
	for i := range 3 {
		w.model.Apply(model.PriorityClassSet{Name: fmt.Sprintf("p%d", i), Value: int32(i * 10)})
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "queues") {
		w.model.Apply(model.QueueFrom(make.Queue(fmt.Sprintf("q%d", i)).Weight(int32(rapid.IntRange(1, 3).Draw(t, "weight"))).Obj()))
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
		w.model.Apply(model.NodeFrom(make.Node(fmt.Sprintf("n%d", i)).CPU(fmt.Sprint(rapid.IntRange(1, 6).Draw(t, "cpu"))).Obj()))
	}
	w.budget = &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b"}}
	w.budget.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	w.budget.Status.DisruptionsAllowed, w.budget.Status.DesiredHealthy = int32(rapid.IntRange(0, 2).Draw(t, "allowed")), int32(rapid.IntRange(0, 2).Draw(t, "desired"))
	w.model.Apply(model.BudgetFrom(w.budget))
	return w
}

// submit adds a gang.
func (w *fight) submit() {
	w.made++
	name := fmt.Sprintf("g%d", w.made)
	tasks := rapid.IntRange(1, 4).Draw(w.t, "tasks")
	w.gangs[name] = rapid.IntRange(1, tasks).Draw(w.t, "min")
	class := rapid.IntRange(0, 2).Draw(w.t, "class")
	w.rank[name] = int32(class * 10)
	queue := fmt.Sprintf("q%d", rapid.IntRange(0, len(w.model.Queues)-1).Draw(w.t, "queue"))
	g := make.Gang(name).Min(w.gangs[name]).Queue(queue).PriorityClass(fmt.Sprintf("p%d", class)).Age(-time.Duration(w.made) * time.Second).Obj()
	g.UID = types.UID(name)
	if w.queueOf[name] = queue; w.made%2 == 0 {
		w.jobs[name] = "job-of-" + name
		g.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch.volcano.sh/v1alpha1", Kind: "Job", Name: w.jobs[name]}}
	}
	w.model.Apply(model.GangFrom(g))
	cpu := fmt.Sprint(rapid.IntRange(1, 2).Draw(w.t, "cpu"))
	kind := rapid.IntRange(0, 9).Draw(w.t, "kind")
	for i := range tasks {
		b := make.Pod(fmt.Sprintf("%s-%d", name, i)).Gang(name).CPU(cpu).Priority(int32(rapid.IntRange(0, 1).Draw(w.t, "priority")))
		switch kind {
		case 0:
			b.Annotation("volcano.sh/preemptable", "false")
		case 1:
			b.Label("app", "web")
		case 2:
			b.Label("volcano.sh/cooldown-time", "10m")
		case 3:
			b.Obj().Spec.PriorityClassName = "system-node-critical"
		}
		w.set(b.Obj())
	}
}

func (w *fight) set(p *corev1.Pod) {
	w.pods[p.Name] = p
	w.model.Apply(model.TaskFrom(p, true))
}

// decide runs a cycle, checks its evictions and carries everything out.
func (w *fight) decide() decision.Decisions {
	w.now = w.now.Add(2 * time.Second)
	held := map[string]int{}
	for name := range w.gangs {
		held[name] = w.model.Gangs["default/"+name].CountReady()
	}
	d := w.engine.Cycle(w.now, w.model)
	w.check(&d, held)
	decision.Assume(w.model, &d)
	for _, b := range d.Binds {
		p := w.pods[b.Pod.Name]
		p.Spec.NodeName, p.Status.Phase = b.Node, corev1.PodRunning
		at := metav1.NewTime(w.now)
		p.Status.StartTime = &at
		p.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: at}, {Type: corev1.PodReady, Status: corev1.ConditionTrue},
		}
		w.set(p)
	}
	for _, e := range d.Evicts {
		old := w.pods[e.Pod.Name]
		w.model.Apply(model.TaskGone{Namespace: "default", Name: old.Name, UID: old.UID})
		fresh := old.DeepCopy()
		w.made++
		fresh.UID = types.UID(fmt.Sprintf("pod-%d", w.made))
		fresh.Spec.NodeName, fresh.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
		w.set(fresh)
	}
	return d
}

func (w *fight) check(d *decision.Decisions, held map[string]int) {
	out := map[string]int{}
	web := 0
	for _, e := range d.Evicts {
		p := w.pods[e.Pod.Name]
		out[e.Gang.Name]++
		if p.Annotations["volcano.sh/preemptable"] == "false" || p.Spec.PriorityClassName != "" {
			w.t.Fatalf("%s is protected and evicted: %s", p.Name, e.Message)
		}
		if p.Labels["volcano.sh/cooldown-time"] != "" && w.now.Sub(p.Status.StartTime.Time) < 10*time.Minute {
			w.t.Fatalf("%s is evicted in its cooldown", p.Name)
		}
		if p.Labels["app"] == "web" {
			web++
		}
		if w.ranked && e.Reason == "preempt" && e.Preemptor.Name != e.Gang.Name && w.rank[e.Preemptor.Name] < w.rank[e.Gang.Name] {
			w.t.Fatalf("%s of higher priority is evicted for %s", e.Gang.Name, e.Preemptor.Name)
		}
	}
	if web > int(w.budget.Status.DisruptionsAllowed) {
		w.t.Fatalf("%d pods of a budget of %d are evicted", web, w.budget.Status.DisruptionsAllowed)
	}
	for name, n := range out {
		if rest := held[name] - n; rest > 0 && rest < w.gangs[name] {
			w.t.Fatalf("gang %s is left with %d of %d", name, rest, w.gangs[name])
		}
	}
	told := map[[2]string]bool{}
	for _, e := range d.Evicts {
		pair := [2]string{e.Preemptor.Name, e.Gang.Name}
		if pair[0] == pair[1] || told[pair] {
			continue
		}
		told[pair] = true
		if w.ranked && w.took[[2]string{pair[1], pair[0]}] > 0 { // otherwise a third gang may have intervened
			w.t.Fatalf("%s evicts %s, which had evicted it before, and nothing happened between: %s: %s", pair[0], pair[1], e.Reason, e.Message)
		}
		w.took[pair]++
	}
}

// TestFightsEnd lets gangs of all kinds evict each other, with all actions. Protected pods stay (guards are never
// violated), gangs lose their surplus or all pods, no eviction is answered by an eviction, and evictions end after
// some cycles (I8).
func TestFightsEnd(t *testing.T) {
	evicted := 0
	propertytest.Check(t, 10000, func(t *rapid.T) {
		w := drawFight(t, rapid.SampledFrom([]string{attacks, sharesFirst}).Draw(t, "policies"), rapid.SampledFrom([]string{
			"preempt", "reclaim, preempt", "preempt, reclaim", "gangpreempt, gangreclaim", "preempt, gangpreempt", "gangreclaim, reclaim, gangpreempt, preempt",
		}).Draw(t, "actions"))
		for range rapid.IntRange(1, 4).Draw(t, "waves") {
			for range rapid.IntRange(1, 4).Draw(t, "gangs") {
				w.submit()
			}
			w.took = map[[2]string]int{}
			last := -1
			for cycle := range 60 {
				if d := w.decide(); len(d.Evicts) > 0 {
					last = cycle
					evicted += len(d.Evicts)
				}
			}
			if last > 40 {
				t.Fatalf("evictions go on: the last one in cycle %d of 60\n%v", last, w.took)
			}
		}
	})
	t.Logf("%d evictions", evicted)
}

// preempters are configurations in which a gang preempts in its queue: by priority, and by dominant shares.
var preempters = []string{"", `
tiers:
- plugins: [{name: drf}, {name: gang, enableJobStarving: false}]
- plugins: [{name: priority}, {name: predicates}, {name: network-topology-aware}]
`, `
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: predicates}, {name: proportion}, {name: network-topology-aware}]
`}

// TestPreemptIsMinimal is TestReclaimIsMinimal inside one queue, by priority: the gang starts once the victims have
// left, would not start if one of them had stayed, and no gang of its priority is evicted (I7), except by dominant
// shares.
func TestPreemptIsMinimal(t *testing.T) {
	evicted := 0
	propertytest.Check(t, 10000, func(t *rapid.T) {
		w := drawCrowd(t)
		w.taker.queue = "greedy"
		w.classes = []string{"high"}
		for range w.gangs {
			w.classes = append(w.classes, rapid.SampledFrom([]string{"", "low", "mid", "high"}).Draw(t, "class"))
		}
		w.text = rapid.SampledFrom(preempters).Draw(t, "configuration")
		if w.text != "" && rapid.Bool().Draw(t, "structured") {
			w.structure(t)
		}
		e := w.engine(t, "allocate", rapid.SampledFrom([]string{"preempt", "gangpreempt"}).Draw(t, "action"))
		d := e.Cycle(make.Epoch.Add(time.Second), w.cluster(nil))
		if len(d.Evicts) == 0 {
			return
		}
		evicted++
		left, units := map[string]bool{}, map[string][]string{}
		for _, v := range d.Evicts {
			left[v.Pod.Name] = true
			units[v.Gang.Name] = append(units[v.Gang.Name], v.Pod.Name)
		}
		if !w.starts(t, left) || w.starts(t, nil) {
			t.Fatalf("evicted %v: the gang starts %v with it, %v without", units, w.starts(t, left), w.starts(t, nil))
		}
		for i, g := range w.gangs {
			if len(units[g.name]) > 0 && w.classes[i+1] == "high" && w.text != preempters[1] {
				t.Fatalf("%s has the same priority and is evicted", g.name)
			}
			w.checkGang(t, g, units[g.name], left)
		}
	})
	if evicted == 0 && !testing.Short() {
		t.Error("nobody was ever evicted")
	}
	t.Logf("%d had victims", evicted)
}

// classOf returns the priority class of the i-th gang; the taker is the last.
func (w *crowd) classOf(name string) string {
	if name == w.taker.name {
		return slices.Concat(w.classes, []string{""})[0]
	}
	for i, g := range w.gangs {
		if g.name == name && i+1 < len(w.classes) {
			return w.classes[i+1]
		}
	}
	return ""
}
