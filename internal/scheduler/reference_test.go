package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// reference is a scheduler in plain loops: no shapes, no rankings, no undo log,
// nothing remembered. Gangs in order of priority and age; each pod goes to the
// node that is best by binpack of cpu and memory, the first by name among equals;
// a gang that is not placed whole leaves no trace. One queue without limits.
type reference struct {
	nodes []refNode
	binds map[string]string
}

type refNode struct {
	name                       string
	cpu, memory, pods          int64
	usedCPU, usedMem, usedPods int64
	zone                       string
	tainted, cordoned          bool
	ports                      []int32
}

type refPod struct {
	name        string
	cpu, memory int64
	zone        string
	tolerates   bool
	port        int32
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

// points is binpack with weight 1 for cpu and memory, in thousandths.
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

// gang places a gang whole or not at all.
func (r *reference) gang(pods []refPod) bool {
	saved := slices.Clone(r.nodes)
	for i := range saved {
		saved[i].ports = slices.Clone(saved[i].ports)
	}
	where := map[string]string{}
	for i := range pods {
		p := &pods[i]
		best := -1
		for k := range r.nodes {
			if r.nodes[k].takes(p) && (best < 0 || r.nodes[k].points(p) > r.nodes[best].points(p)) {
				best = k
			}
		}
		if best < 0 {
			r.nodes = saved
			return false
		}
		n := &r.nodes[best]
		n.usedCPU, n.usedMem, n.usedPods = n.usedCPU+p.cpu, n.usedMem+p.memory, n.usedPods+1
		if p.port != 0 {
			n.ports = append(n.ports, p.port)
		}
		where[p.name] = n.name
	}
	for name, node := range where {
		r.binds[name] = node
	}
	return true
}

const packing = `
actions: "allocate"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: predicates}, {name: binpack}]
`

// TestReference holds the engine to the reference on random clusters: the same
// pods on the same nodes, over several cycles in which gangs come and go.
func TestReference(t *testing.T) {
	cfg, _, err := config.Parse([]byte(packing))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		e, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		c := model.New()
		c.Apply(model.QueueFrom(make.Queue("default").Obj()))
		ref := &reference{binds: map[string]string{}}
		for i := range rapid.IntRange(1, 12).Draw(t, "nodes") {
			ref.addNode(t, c, i)
		}
		now, made := make.Epoch, 0
		waiting := [][]refPod{}
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			for range rapid.IntRange(0, 4).Draw(t, "gangs") {
				made++
				waiting = append(waiting, addGang(t, c, made))
			}
			if rapid.Bool().Draw(t, "grow") {
				ref.addNode(t, c, len(ref.nodes))
			}
			clear(ref.binds)
			rest := waiting[:0]
			for _, gang := range waiting {
				if !ref.gang(gang) {
					rest = append(rest, gang)
				}
			}
			waiting = rest
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
		}
	})
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
	}
	r.nodes = append(r.nodes, n)
	slices.SortFunc(r.nodes, func(a, b refNode) int { return strings.Compare(a.name, b.name) })
	b := make.Node(n.name).CPU(fmt.Sprintf("%dm", n.cpu)).Memory(fmt.Sprint(n.memory)).Resource("pods", fmt.Sprint(n.pods)).Label("zone", n.zone)
	if n.tainted {
		b.Taint("t", "", corev1.TaintEffectNoSchedule)
	}
	if n.cordoned {
		b.Cordon()
	}
	c.Apply(model.NodeFrom(b.Obj()))
}

func addGang(t *rapid.T, c *model.Cluster, made int) []refPod {
	name := fmt.Sprintf("g%03d", made)
	tasks := rapid.IntRange(1, 8).Draw(t, "tasks")
	g := make.Gang(name).Min(tasks).Age(time.Duration(made) * time.Second).Obj()
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
		})
	}
	var pods []refPod
	for i := range tasks {
		p := shapes[i%kinds]
		p.name = fmt.Sprintf("%s-%d", name, i)
		b := make.Pod(p.name).Gang(name).CPU(fmt.Sprintf("%dm", p.cpu))
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
		c.Apply(model.TaskFrom(b.Obj(), true))
		pods = append(pods, p)
	}
	return pods
}
