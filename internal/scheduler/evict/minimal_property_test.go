package evict_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// crowd is a full cluster of one greedy queue, and a gang of another queue that wants its share back.
type crowd struct {
	nodes []*corev1.Node
	gangs []crowdGang
	taker crowdGang
	// text is the configuration without its actions; "" for the default one.
	text string
	// classes are the priority classes of the taker and the gangs; nil if all are equal.
	classes []string
	// racks is true if the nodes are in two racks, and gangs have network topologies and sub-groups.
	racks bool
}

type crowdGang struct {
	name  string
	queue string
	min   int
	pods  []*corev1.Pod
	// near limits the distance between the pods. parts makes pods with the same label "part" start together. nil for
	// no limit.
	near  *schedulingv1beta1.NetworkTopologySpec
	parts *schedulingv1beta1.SubGroupPolicySpec
}

// cluster builds the model without the pods that left, and without the taker's rivals.
func (w *crowd) cluster(left map[string]bool) *model.Cluster {
	c := model.New()
	for name, deserved := range map[string]string{"greedy": "1", "poor": "12"} {
		c.Apply(model.QueueFrom(make.Queue(name).Deserved("cpu", deserved).
			Annotation(keys.Hierarchy, "root/"+name).Annotation(keys.HierarchyWeights, "1/"+deserved).Obj())) // for drf's tree
	}
	for name, value := range map[string]int32{"low": -10, "mid": 5, "high": 10} {
		c.Apply(model.PriorityClassSet{Name: name, Value: value})
	}
	for i, n := range w.nodes {
		c.Apply(model.NodeFrom(n))
		if w.racks {
			c.Apply(clustertest.HyperNode("rack-"+n.Name, 1, topologyv1alpha1.MemberTypeNode, w.nodes[i-i%2].Name, n.Name))
			if i%2 == 1 {
				c.Apply(model.HyperNodeGone{Name: "rack-" + w.nodes[i-1].Name})
			}
		}
	}
	for _, g := range append(w.gangs, w.taker) {
		b := make.Gang(g.name).Min(g.min).Queue(g.queue).PriorityClass(w.classOf(g.name)).Topology(g.near)
		if g.parts != nil {
			b.SubGroups(*g.parts)
		}
		pg := b.Obj()
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

// structure assigns the nodes to racks of two, restricts the taker, or its parts, to one rack, and divides gangs
// into parts.
func (w *crowd) structure(t *rapid.T) {
	w.racks = true
	tier := 1
	hard := &schedulingv1beta1.NetworkTopologySpec{Mode: schedulingv1beta1.HardNetworkTopologyMode, HighestTierAllowed: &tier}
	if rapid.Bool().Draw(t, "near") {
		w.taker.near = hard
	}
	parted := func(g *crowdGang, all bool) {
		size := rapid.IntRange(1, 2).Draw(t, "part of")
		whole := len(g.pods) / size
		if whole == 0 || all && len(g.pods)%size > 0 {
			return
		}
		parts, least := int32(size), int32(whole)
		if !all {
			least = int32(rapid.IntRange(0, whole).Draw(t, "least parts"))
		}
		for i, p := range g.pods {
			p.Labels["part"] = fmt.Sprint(i / size)
		}
		g.parts = &schedulingv1beta1.SubGroupPolicySpec{Name: "part", SubGroupSize: &parts, MinSubGroups: &least, MatchLabelKeys: []string{"part"}}
		if all && rapid.Bool().Draw(t, "parts near") {
			g.parts.NetworkTopology = hard
		}
	}
	for i := range w.gangs {
		if rapid.Bool().Draw(t, "parted") {
			parted(&w.gangs[i], false)
		}
	}
	if rapid.Bool().Draw(t, "taker parted") {
		parted(&w.taker, true)
	}
}

// reclaimers are configurations of several kinds in which a queue reclaims what it deserves.
var reclaimers = []string{"", `
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: predicates}, {name: capacity}, {name: nodeorder}]
`, `
tiers:
- plugins: [{name: priority}, {name: gang}, {name: drf, enablePreemptable: false}]
- plugins: [{name: predicates}, {name: proportion}, {name: binpack}]
`, `
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: predicates}, {name: capacity, enableHierarchy: true}, {name: nodeorder}]
`, `
tiers:
- plugins: [{name: gang}, {name: drf, enableHierarchy: true, enableReclaimable: true}]
- plugins: [{name: predicates}, {name: nodeorder}]
`}

func (w *crowd) engine(t *rapid.T, actions ...string) *scheduler.Engine {
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
	e, err := scheduler.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// starts reports whether action allocate alone binds the whole taker.
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

// TestReclaimIsMinimal checks the evictions (I7). The taker starts once the victims have left. It would not start
// if any one of them (a surplus pod, or a whole gang) had stayed. No protected pod is evicted. No gang keeps pods
// but less than its minimum. Nothing is evicted for a gang that fits anyway. This holds for reclaim and
// gangreclaim, by weights and by amounts, for gangs with a network topology and for whole sub-groups.
func TestReclaimIsMinimal(t *testing.T) {
	tried, evicted, treed := 0, 0, 0
	propertytest.Check(t, 10000, func(t *rapid.T) {
		w := drawCrowd(t)
		w.text = rapid.SampledFrom(reclaimers).Draw(t, "configuration")
		if w.text != "" && rapid.Bool().Draw(t, "structured") {
			w.text = strings.Replace(w.text, "{name: predicates}", "{name: predicates}, {name: network-topology-aware}", 1)
			w.structure(t)
		}
		e := w.engine(t, "enqueue", "allocate", "backfill", rapid.SampledFrom([]string{"reclaim", "gangreclaim"}).Draw(t, "action"))
		d := e.Cycle(make.Epoch.Add(time.Second), w.cluster(nil))
		tried++
		if len(d.Evicts) == 0 {
			return
		}
		evicted++
		if strings.Contains(w.text, "drf, enableH") {
			treed++
		}
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
	t.Logf("%d of %d clusters had victims, %d of them by drf's tree", evicted, tried, treed)
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
	units := [][]string{victims} // a whole gang returns as a whole
	if rest > 0 {
		units = g.unitsOf(t, victims, left)
	}
	for _, unit := range units {
		for _, name := range unit {
			delete(left, name)
		}
		if w.starts(t, left) {
			t.Fatalf("%v of %v need not have gone\n%s", unit, left, w)
		}
		for _, name := range unit {
			left[name] = true
		}
	}
}

// unitsOf returns what may return of a gang that lost some of its pods: a whole sub-group, or one pod.
func (g *crowdGang) unitsOf(t *rapid.T, victims []string, left map[string]bool) (units [][]string) {
	part, stay := map[string]string{}, map[string]int{}
	for _, p := range g.pods {
		if part[p.Name] = p.Labels["part"]; !left[p.Name] {
			stay[p.Labels["part"]]++
		}
	}
	together := map[string][]string{}
	for _, name := range victims {
		if g.parts != nil && stay[part[name]] == 0 {
			together[part[name]] = append(together[part[name]], name)
			continue
		}
		units = append(units, []string{name})
	}
	for _, label := range slices.Sorted(maps.Keys(together)) {
		units = append(units, together[label])
	}
	if g.parts == nil {
		return units
	}
	whole := 0
	for _, n := range stay {
		if n >= int(*g.parts.SubGroupSize) {
			whole++
		}
	}
	if whole < int(*g.parts.MinSubGroups) {
		t.Fatalf("gang %s is left with %d of %d sub-groups", g.name, whole, *g.parts.MinSubGroups)
	}
	return units
}

// String describes the crowd for a failure message.
func (w *crowd) String() string {
	var b strings.Builder
	for _, n := range w.nodes {
		fmt.Fprintf(&b, "%s cpu=%s\n", n.Name, n.Status.Allocatable.Cpu())
	}
	for _, g := range append(slices.Clone(w.gangs), w.taker) {
		fmt.Fprintf(&b, "%s of %s min=%d class=%q near=%v", g.name, g.queue, g.min, w.classOf(g.name), g.near != nil)
		if g.parts != nil {
			fmt.Fprintf(&b, " parts=%d of %d near=%v", *g.parts.MinSubGroups, *g.parts.SubGroupSize, g.parts.NetworkTopology != nil)
		}
		for _, p := range g.pods {
			fmt.Fprintf(&b, "; %s cpu=%s on %q part=%q protected=%q", p.Name, p.Spec.Containers[0].Resources.Requests.Cpu(), p.Spec.NodeName, p.Labels["part"], p.Annotations["volcano.sh/preemptable"])
		}
		b.WriteString("\n")
	}
	return b.String() + w.text
}
