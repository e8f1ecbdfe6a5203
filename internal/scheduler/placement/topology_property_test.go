package placement_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
	"github.com/vc-batch/vc/test/schedulertest"
)

// racks is a random cluster of racks in rows, with gangs that have network topologies.
type racks struct {
	t      *rapid.T
	engine *scheduler.Engine
	model  *model.Cluster
	now    time.Time
	gangs  map[string]*schedulingv1beta1.PodGroup
	pods   map[string]*corev1.Pod
	made   int
	// text is the configuration. rivals is true if gangs are of several queues and priorities, and evict each
	// other.
	text    string
	rivals  int
	evicted int
}

func newRacks(t *rapid.T, text string) *racks {
	r := &racks{t: t, text: text, engine: schedulertest.NewEngine(t, text), model: model.New(), now: make.Epoch, gangs: map[string]*schedulingv1beta1.PodGroup{}, pods: map[string]*corev1.Pod{}}
	r.model.Apply(model.QueueFrom(make.Queue("default").Obj()))
	rows := map[int][]string{}
	for i := range rapid.IntRange(1, 5).Draw(t, "racks") {
		rack := fmt.Sprintf("rack%d", i)
		var nodes []string
		for k := range rapid.IntRange(1, 3).Draw(t, "nodes") {
			name := fmt.Sprintf("%s-n%d", rack, k)
			nodes = append(nodes, name)
			r.model.Apply(model.NodeFrom(make.Node(name).CPU(fmt.Sprint(rapid.IntRange(1, 6).Draw(t, "cpu"))).Obj()))
		}
		r.model.Apply(clustertest.HyperNode(rack, 1, topologyv1alpha1.MemberTypeNode, nodes...))
		row := rapid.IntRange(0, 2).Draw(t, "row")
		rows[row] = append(rows[row], rack)
	}
	for row, members := range rows {
		if row > 0 {
			r.model.Apply(clustertest.HyperNode(fmt.Sprintf("row%d", row), 2, topologyv1alpha1.MemberTypeHyperNode, members...))
		}
	}
	if rapid.Bool().Draw(t, "loose") {
		r.model.Apply(model.NodeFrom(make.Node("loose").CPU("4").Obj()))
	}
	return r
}

func (r *racks) addGang() {
	r.made++
	name := fmt.Sprintf("g%d", r.made)
	tasks := rapid.IntRange(1, 8).Draw(r.t, "tasks")
	b := make.Gang(name).Min(rapid.IntRange(1, tasks).Draw(r.t, "min")).Age(time.Duration(r.made) * time.Second).Topology(clustertest.DrawTopology(r.t))
	size := rapid.IntRange(1, 3).Draw(r.t, "size")
	if rapid.Bool().Draw(r.t, "grouped") {
		n, least := int32(size), int32(rapid.IntRange(0, tasks/size).Draw(r.t, "least"))
		b.SubGroups(schedulingv1beta1.SubGroupPolicySpec{Name: "part", SubGroupSize: &n, MinSubGroups: &least, MatchLabelKeys: []string{"part"}, NetworkTopology: clustertest.DrawTopology(r.t)})
	}
	if r.rivals > 0 {
		b.Queue(fmt.Sprintf("q%d", rapid.IntRange(0, r.rivals-1).Draw(r.t, "queue"))).PriorityClass(rapid.SampledFrom([]string{"low", "mid", "high"}).Draw(r.t, "class"))
	}
	g := b.Obj()
	g.UID = types.UID(name)
	g.Status.Phase = schedulingv1beta1.PodGroupInqueue
	r.gangs[name] = g
	r.model.Apply(model.GangFrom(g))
	cpu := rapid.IntRange(1, 2).Draw(r.t, "cpu")
	mixed := rapid.Bool().Draw(r.t, "mixed")
	for i := range tasks {
		if mixed {
			cpu = rapid.IntRange(1, 2).Draw(r.t, "cpu")
		}
		r.addPod(name, i, size, cpu)
	}
}

func (r *racks) addPod(gang string, i, size, cpu int) {
	r.made++
	b := make.Pod(fmt.Sprintf("%s-%d", gang, i)).Gang(gang).CPU(fmt.Sprint(cpu)).Label("part", strconv.Itoa(i/size))
	b.Obj().UID = types.UID(fmt.Sprintf("%s-%d-%d", gang, i, r.made))
	r.pods[b.Obj().Name] = b.Obj()
	r.model.Apply(model.TaskFrom(b.Obj(), true))
}

func (r *racks) names() []string { return slices.Sorted(maps.Keys(r.pods)) }

// decide runs a cycle and checks it.
func (r *racks) decide() {
	r.now = r.now.Add(2 * time.Second)
	fresh := schedulertest.NewEngine(r.t, r.text)
	again := fresh.Cycle(r.now, r.model)
	before := map[string]bool{}
	for name, p := range r.pods {
		before[name] = p.Spec.NodeName != ""
	}
	d := r.engine.Cycle(r.now, r.model)
	if diff := cmp.Diff(again.Binds, d.Binds); diff != "" {
		r.t.Fatalf("an engine without a past binds differently (-fresh +old):\n%s", diff)
	}
	if diff := cmp.Diff(again.Evicts, d.Evicts); diff != "" {
		r.t.Fatalf("an engine without a past evicts differently (-fresh +old):\n%s", diff)
	}
	r.checkLosers(&d)
	decision.Assume(r.model, &d)
	bound := map[string]bool{}
	for _, b := range d.Binds {
		bound[b.Gang.Name] = true
		p := r.pods[b.Pod.Name]
		p.Spec.NodeName, p.Status.Phase = b.Node, corev1.PodRunning
		r.model.Apply(model.TaskFrom(p, true))
	}
	for _, name := range slices.Sorted(maps.Keys(r.gangs)) {
		if bound[name] {
			r.check(name, before)
		} else if r.rivals == 0 {
			r.checkWaiting(name)
		}
	}
	for _, e := range d.Evicts {
		r.evicted++
		r.again(e.Pod.Name)
	}
}

// again ends a pod and re-creates it, as its owner would.
func (r *racks) again(name string) {
	p := r.pods[name]
	r.model.Apply(model.TaskGone{Namespace: p.Namespace, Name: p.Name, UID: p.UID})
	r.made++
	p = p.DeepCopy()
	p.UID = types.UID(fmt.Sprintf("%s-again-%d", p.Name, r.made))
	p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending
	r.pods[p.Name] = p
	r.model.Apply(model.TaskFrom(p, true))
}

// checkLosers checks the gangs that lose pods: each loses its surplus, with whole sub-groups, or all its pods.
func (r *racks) checkLosers(d *decision.Decisions) {
	lost := map[string]map[string]bool{}
	for _, e := range d.Evicts {
		if lost[e.Gang.Name] == nil {
			lost[e.Gang.Name] = map[string]bool{}
		}
		lost[e.Gang.Name][e.Pod.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		g, rest, parts := r.gangs[name], 0, map[string]int{}
		for _, pod := range r.names() {
			p := r.pods[pod]
			if p.Annotations["scheduling.k8s.io/group-name"] == name && p.Spec.NodeName != "" && !lost[name][pod] {
				rest++
				parts[p.Labels["part"]]++
			}
		}
		if rest > 0 && rest < int(g.Spec.MinMember) {
			r.t.Fatalf("gang %s is left with %d of %d", name, rest, g.Spec.MinMember)
		}
		if rest == 0 || len(g.Spec.SubGroupPolicy) == 0 {
			continue
		}
		whole := 0
		for _, n := range parts {
			if n >= int(*g.Spec.SubGroupPolicy[0].SubGroupSize) {
				whole++
			}
		}
		if whole < int(*g.Spec.SubGroupPolicy[0].MinSubGroups) {
			r.t.Fatalf("gang %s is left with %d whole sub-groups of %d: %v", name, whole, *g.Spec.SubGroupPolicy[0].MinSubGroups, parts)
		}
	}
}

// checkWaiting checks whether a gang of equal pods waits although a permitted domain has room for it.
func (r *racks) checkWaiting(name string) {
	g := r.gangs[name]
	spec, tree := g.Spec.NetworkTopology, r.model.Topology()
	var pods []*corev1.Pod
	for _, pod := range r.names() {
		if p := r.pods[pod]; p.Annotations["scheduling.k8s.io/group-name"] == name {
			if p.Spec.NodeName != "" {
				return
			}
			pods = append(pods, p)
		}
	}
	if tree == nil || len(g.Spec.SubGroupPolicy) > 0 || len(pods) < int(g.Spec.MinMember) {
		return
	}
	cpu := pods[0].Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
	for _, p := range pods {
		if p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue() != cpu {
			return
		}
	}
	for _, d := range tree.Domains {
		if !d.CanHoldGangs() || spec != nil && spec.Mode == schedulingv1beta1.HardNetworkTopologyMode && d.Tier > *spec.HighestTierAllowed {
			continue
		}
		slots := 0
		for _, id := range d.All {
			n := &r.model.Nodes
			slots += int((n.Row(n.Alloc, id)[resource.CPU] - n.Row(n.Used, id)[resource.CPU]) / cpu)
		}
		if slots >= int(g.Spec.MinMember) {
			r.t.Fatalf("gang %s of %d pods of %d waits, though %q has room for %d", name, g.Spec.MinMember, cpu, d.Name, slots)
		}
	}
}

// muddle changes a HyperNode, perhaps into an unusable one.
func (r *racks) muddle() {
	name := rapid.SampledFrom([]string{"row1", "row2", "row3"}).Draw(r.t, "hyperNode")
	if rapid.IntRange(0, 3).Draw(r.t, "gone") == 0 {
		r.model.Apply(model.HyperNodeGone{Name: name})
		return
	}
	members := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"rack0", "rack1", "rack2", "row1", "row2"}), 1, 3, rapid.ID[string]).Draw(r.t, "members")
	r.model.Apply(clustertest.HyperNode(name, 2, topologyv1alpha1.MemberTypeHyperNode, members...))
}

// check checks a gang of which pods were bound.
func (r *racks) check(name string, before map[string]bool) {
	g, t := r.gangs[name], r.model.Topology()
	running := 0
	groups := map[string][]string{}
	var domain *model.Domain
	fresh := true
	for _, pod := range r.names() {
		p := r.pods[pod]
		if p.Annotations["scheduling.k8s.io/group-name"] != name || p.Spec.NodeName == "" {
			continue
		}
		running++
		fresh = fresh && !before[pod]
		groups[p.Labels["part"]] = append(groups[p.Labels["part"]], pod)
		domain = t.CommonDomain(domain, r.at(p))
	}
	if running < int(g.Spec.MinMember) {
		r.t.Fatalf("gang %s starts in part: %d of %d", name, running, g.Spec.MinMember)
	}
	r.within(g.Spec.NetworkTopology, domain, "gang "+name)
	if len(g.Spec.SubGroupPolicy) == 0 {
		return
	}
	policy := g.Spec.SubGroupPolicy[0]
	whole := 0
	for _, part := range slices.Sorted(maps.Keys(groups)) {
		var around *model.Domain
		for _, pod := range groups[part] {
			around = t.CommonDomain(around, r.at(r.pods[pod]))
		}
		if slices.ContainsFunc(groups[part], func(pod string) bool { return !before[pod] }) { // otherwise the HyperNodes changed around it
			r.within(policy.NetworkTopology, around, "sub-group "+part+" of gang "+name)
		}
		if len(groups[part]) >= int(*policy.SubGroupSize) {
			whole++
		} else if slices.ContainsFunc(groups[part], func(pod string) bool { return !before[pod] }) {
			r.t.Fatalf("sub-group %s of gang %s starts in part: %d of %d", part, name, len(groups[part]), *policy.SubGroupSize)
		}
	}
	if whole < int(*policy.MinSubGroups) {
		r.t.Fatalf("gang %s starts with %d of %d sub-groups", name, whole, *policy.MinSubGroups)
	}
}

func (r *racks) at(p *corev1.Pod) *model.Domain {
	id, _ := r.model.Nodes.Find(p.Spec.NodeName)
	return r.model.Topology().LowestDomain(id)
}

func (r *racks) within(spec *schedulingv1beta1.NetworkTopologySpec, domain *model.Domain, who string) {
	if spec != nil && spec.Mode == schedulingv1beta1.HardNetworkTopologyMode && domain.Tier > *spec.HighestTierAllowed {
		r.t.Fatalf("%s is in %q of tier %d, allowed is %d", who, domain.Name, domain.Tier, *spec.HighestTierAllowed)
	}
}

// TestNearEachOther adds gangs and sub-groups with hard and soft topologies, lets them lose and regain pods, and
// changes HyperNodes. A gang or sub-group never starts in part (I2), none is spread wider than its tier, no gang of
// equal pods waits although there is room for it, and a new engine makes the same decisions (I11).
func TestNearEachOther(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		r := newRacks(t, clustertest.TopologyConfig)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch names := r.names(); rapid.IntRange(0, 4).Draw(t, "what") {
			case 1:
				r.muddle()
			case 0:
				if len(names) > 0 { // a pod ends and is re-created
					r.again(rapid.SampledFrom(names).Draw(t, "pod"))
				}
			default:
				r.addGang()
			}
			if rapid.Bool().Draw(t, "cycle") {
				r.decide()
			}
		}
		r.decide()
		r.decide()
	})
}

// rivalry has every action that evicts, for gangs with network topologies.
const rivalry = `
actions: "enqueue, allocate, backfill, %s"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: predicates}, {name: %s}, {name: nodeorder}, {name: network-topology-aware}]
`

// TestEvictionsLeaveGangsNear has gangs and sub-groups with hard and soft topologies evict each other, by every
// action. A gang that starts on the resources of others is no wider than its tier, and a gang that loses pods keeps
// its minimum with whole sub-groups, or nothing.
func TestEvictionsLeaveGangsNear(t *testing.T) {
	evicted := map[string]int{}
	whole := propertytest.Check(t, 10000, func(t *rapid.T) {
		actions := rapid.SampledFrom([]string{"preempt", "reclaim", "preempt, reclaim", "gangpreempt, gangreclaim"}).Draw(t, "actions")
		r := newRacks(t, fmt.Sprintf(rivalry, actions, rapid.SampledFrom([]string{"proportion", "capacity"}).Draw(t, "policy")))
		r.rivals = rapid.IntRange(1, 2).Draw(t, "queues")
		for i := range r.rivals {
			r.model.Apply(model.QueueFrom(make.Queue(fmt.Sprintf("q%d", i)).Deserved("cpu", fmt.Sprint(rapid.IntRange(1, 12).Draw(t, "deserved"))).Obj()))
		}
		for i, class := range []string{"low", "mid", "high"} {
			r.model.Apply(model.PriorityClassSet{Name: class, Value: int32(i * 10)})
		}
		for range rapid.IntRange(2, 8).Draw(t, "gangs") {
			r.addGang()
			r.decide()
		}
		for range 3 {
			r.decide()
		}
		evicted[actions] += r.evicted
	})
	t.Logf("evicted: %v", evicted)
	for _, actions := range []string{"preempt", "reclaim", "gangpreempt, gangreclaim"} {
		if whole && evicted[actions] == 0 && !testing.Short() {
			t.Errorf("nobody was ever evicted by %s", actions)
		}
	}
}
