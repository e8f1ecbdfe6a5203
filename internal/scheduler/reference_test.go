package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// reference is a scheduler in plain loops: without shapes, rankings, an undo log or caches. Gangs are in order of
// priority and age. Each pod goes to the best node by binpack of cpu and memory, the first by name among equals. A
// gang that does not get its minimum gets nothing, and what it wants beyond its minimum comes after all minimums of
// its queue. The queues have their turns one after another; none gets more than its limit, or than the cluster has.
type reference struct {
	nodes  []refNode
	queues []*refQueue
	gangs  []*refGang // in order of age
	binds  map[string]string
}

type refQueue struct {
	name      string
	cpu       int64 // limit; -1 for no limit
	held      refPod
	heldSlots int64
}

type refGang struct {
	name    string
	queue   *refQueue
	minimum int
	placed  int
	pending []refPod
	running []refPlaced
	// fit and most are how many of its pods found nodes in the last try of its minimum: in the first order, and in
	// the best order.
	fit, most int
}

type refPlaced struct {
	pod  refPod
	node string
}

type refNode struct {
	name                       string
	cpu, memory, pods          int64
	usedCPU, usedMem, usedPods int64
	zone                       string
	tainted, cordoned          bool
	ports                      []int32
	gangs, apart               map[string]int // number of pods on the node, by gang: all, and the ones with rule apart
}

type refPod struct {
	name, gang  string
	cpu, memory int64
	zone        string
	tolerates   bool
	port        int32
	rule        string // "", apart (by node), near (by zone), spread (over zones), with respect to pods of its gang
}

// ruled reports whether the other pods of its gang permit a pod on a node.
func (r *reference) ruled(n *refNode, p *refPod) bool {
	if n.apart[p.gang] > 0 {
		return false
	}
	byZone, all := map[string]int{}, 0
	for i := range r.nodes {
		m := &r.nodes[i]
		if p.zone == "" || p.zone == m.zone {
			byZone[m.zone] += m.gangs[p.gang]
		}
		all += m.gangs[p.gang]
	}
	switch p.rule {
	case "apart":
		return n.gangs[p.gang] == 0
	case "near":
		return all == 0 || byZone[n.zone] > 0
	case "spread":
		least := byZone[n.zone]
		for _, count := range byZone {
			least = min(least, count)
		}
		return byZone[n.zone]+1-least <= 1
	}
	return true
}

func (n *refNode) takes(p *refPod) bool {
	switch {
	case n.cordoned, n.tainted && !p.tolerates, p.zone != "" && p.zone != n.zone,
		n.usedPods+1 > n.pods, n.usedCPU+p.cpu > n.cpu, n.usedMem+p.memory > n.memory,
		p.port != 0 && slices.Contains(n.ports, p.port):
		return false
	}
	return true
}

// points returns binpack points with weight 1 for cpu and memory, in thousandths.
func (n *refNode) points(p *refPod) int32 {
	sum, weights := 0.0, 0.0
	for _, r := range [][3]int64{{p.cpu, n.usedCPU, n.cpu}, {p.memory, n.usedMem, n.memory}} {
		if r[0] == 0 {
			continue
		}
		weights++
		if r[2] > 0 {
			sum += float64(r[1]+r[0]) / float64(r[2])
		}
	}
	if weights == 0 {
		return 0
	}
	return int32(sum / weights * 100 * 1000)
}

// allows reports whether a queue may hold pods in addition: within its limit and the capacity of the nodes.
func (r *reference) allows(q *refQueue, p *refPod, pods int64) bool {
	var all refNode
	for i := range r.nodes {
		all.cpu, all.memory, all.pods = all.cpu+r.nodes[i].cpu, all.memory+r.nodes[i].memory, all.pods+r.nodes[i].pods
	}
	if q.cpu >= 0 {
		all.cpu = min(all.cpu, q.cpu)
	}
	return q.held.cpu+p.cpu <= all.cpu && (p.memory == 0 || q.held.memory+p.memory <= all.memory) && q.heldSlots+pods <= all.pods
}

// best returns the index of the best node for a pod; -1 if it fits on no node.
func (r *reference) best(q *refQueue, p *refPod) int {
	best := -1
	if !r.allows(q, p, 1) {
		return best
	}
	for k := range r.nodes {
		n := &r.nodes[k]
		if n.takes(p) && r.ruled(n, p) && (best < 0 || n.points(p) > r.nodes[best].points(p)) {
			best = k
		}
	}
	return best
}

// put adds a pod of a queue to a node, or removes it.
func (r *reference) put(q *refQueue, p *refPod, k int, sign int64) {
	n := &r.nodes[k]
	q.held.cpu, q.held.memory, q.heldSlots = q.held.cpu+sign*p.cpu, q.held.memory+sign*p.memory, q.heldSlots+sign
	n.usedCPU, n.usedMem, n.usedPods = n.usedCPU+sign*p.cpu, n.usedMem+sign*p.memory, n.usedPods+sign
	n.gangs[p.gang] += int(sign)
	if p.rule == "apart" {
		n.apart[p.gang] += int(sign)
	}
	switch {
	case p.port != 0 && sign > 0:
		n.ports = append(n.ports, p.port)
	case p.port != 0:
		i := slices.Index(n.ports, p.port)
		n.ports = slices.Delete(n.ports, i, i+1)
	}
}

// place assigns nodes to want of a gang's pods, or to none. If pods of some kinds find no node, it tries again with
// these kinds first, each kind at most once.
func (r *reference) place(g *refGang, want int) bool {
	var front []refPod // kinds
	g.fit, g.most = -1, -1
	for range len(g.pending) + 1 {
		ok, failed := r.try(g, want, front)
		if ok || want == 1 && g.placed >= g.minimum {
			return ok
		}
		failed = slices.DeleteFunc(failed, func(kind refPod) bool { return slices.Contains(front, kind) })
		if len(failed) == 0 {
			return false
		}
		front = append(failed, front...)
	}
	return false
}

// kind returns a pod without its name.
func (p refPod) kind() refPod {
	p.name = ""
	return p
}

// try is one try at placing. The first of several equal pods that fits nowhere decides for all.
func (r *reference) try(g *refGang, want int, front []refPod) (ok bool, kinds []refPod) {
	slices.SortStableFunc(g.pending, func(a, b refPod) int {
		x, y := slices.Index(front, a.kind()), slices.Index(front, b.kind())
		switch {
		case x == y:
			return strings.Compare(a.name, b.name)
		case x < 0:
			return 1
		case y < 0:
			return -1
		}
		return x - y
	})
	type choice struct{ pod, node int }
	var chosen []choice
	for i := range g.pending {
		if len(chosen) == want {
			break
		}
		p := &g.pending[i]
		if slices.Contains(kinds, p.kind()) {
			continue
		}
		if k := r.best(g.queue, p); k >= 0 {
			r.put(g.queue, p, k, 1)
			chosen = append(chosen, choice{i, k})
			continue
		}
		kinds = append(kinds, p.kind())
	}
	if g.most = max(g.most, len(chosen)); g.fit < 0 {
		g.fit = len(chosen)
	}
	if len(chosen) < want {
		for i := len(chosen) - 1; i >= 0; i-- {
			r.put(g.queue, &g.pending[chosen[i].pod], chosen[i].node, -1)
		}
		return false, kinds
	}
	for i := len(chosen) - 1; i >= 0; i-- {
		c := chosen[i]
		r.binds[g.pending[c.pod].name] = r.nodes[c.node].name
		g.running = append(g.running, refPlaced{g.pending[c.pod], r.nodes[c.node].name})
		g.pending = slices.Delete(g.pending, c.pod, c.pod+1)
	}
	g.placed += want
	return true, nil
}

// cycle gives every gang its minimum, queue by queue and the oldest first, and then what it can have beyond.
func (r *reference) cycle() {
	for _, q := range r.queues {
		for _, g := range r.gangs {
			if g.queue == q && g.placed < g.minimum {
				r.place(g, g.minimum)
			}
		}
		for _, g := range r.gangs {
			for g.queue == q && g.placed >= g.minimum && len(g.pending) > 0 && r.place(g, 1) {
				continue
			}
		}
	}
	r.lend()
}

// lend tries again the gangs that have nothing and whose minimum their queue may hold: resources that no entitled
// gang waits for may be used by any queue, and these queues deserve nothing. With fewer free resources, another
// order may fit.
func (r *reference) lend() {
	for _, q := range r.queues {
		for _, g := range r.gangs {
			if g.queue != q || g.placed >= g.minimum {
				continue
			}
			slices.SortFunc(g.pending, func(a, b refPod) int { return strings.Compare(a.name, b.name) })
			var all refPod
			for _, p := range g.pending[:g.minimum] {
				all.cpu, all.memory = all.cpu+p.cpu, all.memory+p.memory
			}
			if fit, most := g.fit, g.most; r.allows(q, &all, int64(g.minimum)) && !r.place(g, g.minimum) {
				g.fit, g.most = fit, most // as reported
			}
		}
	}
}

const packing = `
actions: "allocate"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: predicates}, {name: capacity}, {name: binpack}]
`

// TestReference compares the engine with the reference on random clusters. The same pods must run on the same
// nodes, over several cycles in which gangs of two queues come and go and nodes are added and shrink, and as many
// members of waiting gangs must fit.
func TestReference(t *testing.T) {
	cfg, _, err := config.Parse([]byte(packing))
	if err != nil {
		t.Fatal(err)
	}
	propertytest.Check(t, 10000, func(t *rapid.T) {
		e, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		c := model.New()
		ref := &reference{binds: map[string]string{}}
		for i := range rapid.IntRange(1, 2).Draw(t, "queues") {
			ref.addQueue(t, c, i)
		}
		for i := range rapid.IntRange(1, 12).Draw(t, "nodes") {
			ref.addNode(t, c, i)
		}
		now, made := make.Epoch, 0
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			if rapid.Bool().Draw(t, "grow") {
				ref.addNode(t, c, len(ref.nodes))
			}
			if rapid.IntRange(0, 2).Draw(t, "shrink") == 0 {
				ref.shrink(t, c)
			}
			if len(ref.gangs) > 0 && rapid.Bool().Draw(t, "end") {
				ref.end(c, rapid.IntRange(0, len(ref.gangs)-1).Draw(t, "which"))
			}
			before := len(ref.gangs)
			for range rapid.IntRange(0, 4).Draw(t, "gangs") {
				made++
				ref.gangs = append(ref.gangs, addGang(t, c, made, rapid.SampledFrom(ref.queues).Draw(t, "queue")))
			}
			clear(ref.binds)
			ref.cycle()
			now = now.Add(time.Second)
			d := e.Cycle(now, c)
			decision.Assume(c, &d)
			binds := map[string]string{}
			for _, b := range d.Binds {
				binds[b.Pod.Name] = b.Node
			}
			if diff := cmp.Diff(ref.binds, binds); diff != "" {
				t.Fatalf("binds (-reference +engine):\n%s", diff)
			}
			ref.agree(t, c, before)
		}
	})
}

// alike reports whether another gang waits for nodes for equal pods.
func (g *refGang) alike(other *refGang) bool {
	return slices.ContainsFunc(other.pending, func(p refPod) bool {
		a, b := p.kind(), g.pending[0].kind()
		a.gang, b.gang = "", ""
		return a == b
	})
}

// end removes a gang and what it holds.
func (r *reference) end(c *model.Cluster, i int) {
	g := r.gangs[i]
	r.gangs = slices.Delete(r.gangs, i, i+1)
	for k := range g.running {
		at := slices.IndexFunc(r.nodes, func(n refNode) bool { return n.name == g.running[k].node })
		r.put(g.queue, &g.running[k].pod, at, -1)
		c.Apply(model.TaskGone{Namespace: "default", Name: g.running[k].pod.name})
	}
	for k := range g.pending {
		c.Apply(model.TaskGone{Namespace: "default", Name: g.pending[k].name})
	}
	c.Apply(model.GangGone{Namespace: "default", Name: g.name})
}

// shrink reduces a node's capacity, perhaps below what it holds.
func (r *reference) shrink(t *rapid.T, c *model.Cluster) {
	n := &r.nodes[rapid.IntRange(0, len(r.nodes)-1).Draw(t, "node")]
	n.cpu, n.pods = n.cpu/2, n.pods-n.pods/3
	n.tell(c)
}

// agree compares the explanations with the reference: each waiting gang has one, and for a new gang below its
// minimum as many members fit as in the reference. (Explanations of older gangs may be some seconds old, and the
// result for one gang is used for later equal gangs.)
func (r *reference) agree(t *rapid.T, c *model.Cluster, old int) {
	for i, g := range r.gangs {
		if i >= old && g.placed < g.minimum && !slices.ContainsFunc(r.gangs, func(o *refGang) bool { return o != g && g.alike(o) }) {
			told := c.Gangs["default/"+g.name].Status.Explanation
			if told == nil || told.Members == nil || int(told.Members.Fit) < g.fit || int(told.Members.Fit) > g.most {
				t.Fatalf("gang %s of %d: %d of it fit, %d in another order; told %+v", g.name, g.minimum, g.fit, g.most, told)
			}
		}
		e := c.Gangs["default/"+g.name].Status.Explanation
		if waits := g.placed < g.minimum; waits != (e != nil && g.placed < g.minimum) {
			t.Fatalf("gang %s has %d of %d and the explanation %+v", g.name, g.placed, g.minimum, e)
		}
	}
}

func (r *reference) addNode(t *rapid.T, c *model.Cluster, i int) {
	n := refNode{
		name:     fmt.Sprintf("n%02d", i),
		cpu:      int64(rapid.IntRange(0, 8).Draw(t, "cpu")) * 500,
		memory:   int64(rapid.IntRange(0, 8).Draw(t, "memory")) << 30,
		pods:     int64(rapid.IntRange(0, 6).Draw(t, "pods")),
		zone:     rapid.SampledFrom([]string{"x", "y"}).Draw(t, "zone"),
		tainted:  rapid.IntRange(0, 3).Draw(t, "tainted") == 0,
		cordoned: rapid.IntRange(0, 5).Draw(t, "cordoned") == 0,
		gangs:    map[string]int{}, apart: map[string]int{},
	}
	r.nodes = append(r.nodes, n)
	slices.SortFunc(r.nodes, func(a, b refNode) int { return strings.Compare(a.name, b.name) })
	n.tell(c)
}

// tell adds the node to the model.
func (n *refNode) tell(c *model.Cluster) {
	b := make.Node(n.name).CPU(fmt.Sprintf("%dm", n.cpu)).Memory(fmt.Sprint(n.memory)).Resource("pods", fmt.Sprint(n.pods)).Label("zone", n.zone)
	if n.tainted {
		b.Taint("t", "", corev1.TaintEffectNoSchedule)
	}
	if n.cordoned {
		b.Cordon()
	}
	c.Apply(model.NodeFrom(b.Obj()))
}

// addQueue adds a queue, with or without a limit.
func (r *reference) addQueue(t *rapid.T, c *model.Cluster, i int) {
	q := &refQueue{name: fmt.Sprintf("q%d", i), cpu: -1}
	b := make.Queue(q.name)
	if rapid.Bool().Draw(t, "limited") {
		q.cpu = int64(rapid.IntRange(0, 12).Draw(t, "limit")) * 500
		b.Capability("cpu", fmt.Sprintf("%dm", q.cpu))
	}
	r.queues = append(r.queues, q)
	c.Apply(model.QueueFrom(b.Obj()))
}

func addGang(t *rapid.T, c *model.Cluster, made int, q *refQueue) *refGang {
	name := fmt.Sprintf("g%03d", made)
	tasks := rapid.IntRange(1, 8).Draw(t, "tasks")
	ref := &refGang{name: name, queue: q, minimum: rapid.IntRange(1, tasks).Draw(t, "minimum")}
	g := make.Gang(name).Queue(q.name).Min(ref.minimum).Age(time.Duration(made) * time.Second).Obj()
	g.UID = types.UID(name)
	c.Apply(model.GangFrom(g))
	kinds := rapid.IntRange(1, 3).Draw(t, "kinds")
	var shapes []refPod
	for range kinds {
		shapes = append(shapes, refPod{
			cpu:       int64(rapid.IntRange(1, 4).Draw(t, "cpu")) * 250,
			memory:    int64(rapid.IntRange(0, 3).Draw(t, "memory")) << 29,
			zone:      rapid.SampledFrom([]string{"", "", "x", "y"}).Draw(t, "zone"),
			tolerates: rapid.Bool().Draw(t, "tolerates"),
			port:      int32(rapid.SampledFrom([]int{0, 0, 0, 80}).Draw(t, "port")),
			rule:      rapid.SampledFrom([]string{"", "", "", "", "apart", "near", "spread"}).Draw(t, "rule"),
			gang:      name,
		})
	}
	own := &metav1.LabelSelector{MatchLabels: map[string]string{"gang": name}}
	for i := range tasks {
		p := shapes[i%kinds]
		p.name = fmt.Sprintf("%s-%d", name, i)
		b := make.Pod(p.name).Gang(name).Label("gang", name).CPU(fmt.Sprintf("%dm", p.cpu))
		if p.memory > 0 {
			b.Memory(fmt.Sprint(p.memory))
		}
		if p.zone != "" {
			b.Select("zone", p.zone)
		}
		if p.tolerates {
			b.Tolerate("t")
		}
		if p.port != 0 {
			b.HostPort(p.port)
		}
		switch p.rule {
		case "apart":
			b.Affinity(&corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: corev1.LabelHostname, LabelSelector: own,
			}}}})
		case "near":
			b.Affinity(&corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: "zone", LabelSelector: own,
			}}}})
		case "spread":
			b.Spread("zone", 1)
		}
		c.Apply(model.TaskFrom(b.Obj(), true))
		ref.pending = append(ref.pending, p)
	}
	return ref
}
