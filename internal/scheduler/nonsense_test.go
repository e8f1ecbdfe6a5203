package scheduler

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// everything lists configurations that together contain every policy. The extender calls another process and is not
// registered here: FuzzAnswers of its own package covers its answers.
var everything = []string{`
actions: "enqueue, allocate, backfill, preempt, reclaim, shuffle"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}, {name: pdb}, {name: cdp}, {name: sla, arguments: {sla-waiting-time: 1m}}]
- plugins:
  - {name: overcommit}
  - {name: fairshare}
  - {name: fairtree}
  - {name: drf}
  - {name: predicates}
  - {name: proportion}
  - {name: nodeorder}
  - {name: binpack}
  - {name: resourcequota}
  - {name: accountlimits}
  - {name: nodegroup}
  - {name: task-topology}
  - {name: numa-aware}
  - {name: usage}
  - {name: tdm, arguments: {tdm.revocable-zone.rz1: "00:00-12:00", tdm.evict.period: 1m}}
  - {name: rescheduling, arguments: {interval: 1m, strategies: [{name: lowNodeUtilization, params: {thresholds: {cpu: 20}, targetThresholds: {cpu: 50}}}]}}
  - name: deviceshare
    arguments: {deviceshare.GPUSharingEnable: true, deviceshare.NodeLockEnable: true, deviceshare.GPUExclusiveRules: [{app: x}]}
`, `
actions: "enqueue, allocate, backfill, gangpreempt, gangreclaim"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: sla}, {name: fairshare}]
- plugins:
  - {name: capacity, enableHierarchy: true}
  - {name: network-topology-aware}
  - {name: resource-strategy-fit}
  - {name: predicates}
  - {name: nodeorder}
  - {name: deviceshare, arguments: {deviceshare.VGPUEnable: true, deviceshare.GPUNumberEnable: true, deviceshare.ScheduleWeight: 5}}
`, `
actions: "allocate, reclaim, preempt, backfill"
tiers:
- plugins: [{name: gang}, {name: drf, enableHierarchy: true}, {name: extender}, {name: predicates}]
`}

// keyed returns the keys of labels, annotations and resources in the sources, which users may write and some code
// reads.
func keyed(t testing.TB) []string {
	t.Helper()
	key := regexp.MustCompile(`"((?:[a-z0-9-]+\.)+[a-z]+/[A-Za-z0-9._-]+)"`)
	found := map[string]bool{}
	for _, root := range []string{"../../api/keys", "../model", "policy", "session"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, match := range key.FindAllSubmatch(text, -1) {
				found[string(match[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	found["sla-waiting-time"] = true // without a prefix, as in older jobs
	for _, constant := range []string{"running-estimate", "backfill", "user", "elastic-cluster", "numa-cpus"} {
		found["vc-batch.dev/"+constant] = true // written as a sum in the source
	}
	delete(found, "scheduling.k8s.io/group-name") // determines the gang of a pod
	return slices.Sorted(maps.Keys(found))
}

// oddities are values that users and programs have been seen to write, and worse ones.
var oddities = []string{
	"", "0", "1", "-1", "true", "True", "maybe", "1.5", "1e30", "-1e30", "9223372036854775807", "9223372036854775808", "99999999999999999999", "50%", "-50%", "9223372036854775807%",
	"NaN", "Inf", "1h", "-1h", "2562047h47m", "9999999h", "now", "2026-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "*", "rz1", "a,b;c", ",,;;", "a:b,c", "root/q0", "/", "//", "1/2/3", "-1/0",
	"{", "{}", "[]", "null", `{"cpu":"-1"}`, `{"main":{"0":{"cpu":1}}}`, `[{"id":"x","count":-1}]`, "single-numa-node", "soft", "hard", "spread", "binpack", "hami-core", "0,1,2-5", "5-0", "GPU-0,10,1024,100,T4,0,true:",
	"x,y,z:;", "\x00", "ünïcode ☃", strings.Repeat("9", 400), strings.Repeat("a,", 300),
}

var amounts = []string{"0", "1", "3", "-1", "1m", "9e18", "1e30", "-1e30", "9223372036854775807", "1n", "100Ei"}

// odd is a cluster in which any value may be anywhere.
type odd struct {
	t    *rapid.T
	keys []string
	made
}

// made holds the created nodes and pods by name.
type made struct {
	nodes map[string]*corev1.Node
	pods  map[string]*corev1.Pod
}

func newMade() made { return made{map[string]*corev1.Node{}, map[string]*corev1.Pod{}} }

func (o odd) few(what string, most int) int { return rapid.IntRange(0, most).Draw(o.t, what) }

func (o odd) amount(what string) string { return rapid.SampledFrom(amounts).Draw(o.t, what) }

func (o odd) notes() map[string]string {
	notes := map[string]string{}
	for range o.few("notes", 4) {
		notes[rapid.SampledFrom(o.keys).Draw(o.t, "key")] = rapid.OneOf(rapid.SampledFrom(oddities), rapid.String()).Draw(o.t, "value")
	}
	return notes
}

// strew writes notes on an object, as annotations or as labels.
func (o odd) strew(object metav1.Object) {
	for key, value := range o.notes() {
		if rapid.Bool().Draw(o.t, "label") {
			labels := object.GetLabels()
			if labels == nil {
				labels = map[string]string{}
			}
			labels[key] = value
			object.SetLabels(labels)
			continue
		}
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[key] = value
		object.SetAnnotations(annotations)
	}
}

func (o odd) resources() []string {
	return []string{"cpu", "memory", "pods", "nvidia.com/gpu", "volcano.sh/gpu-memory", "volcano.sh/gpu-number", "volcano.sh/vgpu-number", "volcano.sh/vgpu-memory", "volcano.sh/vgpu-cores", "ephemeral-storage"}
}

func (o odd) node(i int) *corev1.Node {
	b := make.Node(fmt.Sprintf("n%d", i)).CPU("8").Memory("8Gi").Resource("pods", "10").Label("volcano.sh/revocable-zone", "rz1")
	for range o.few("amounts", 3) {
		b.Resource(rapid.SampledFrom(o.resources()).Draw(o.t, "resource"), o.amount("allocatable"))
	}
	o.strew(b.Obj())
	o.nodes[b.Obj().Name] = b.Obj()
	return b.Obj()
}

func (o odd) queue(i int) *schedulingv1beta1.Queue {
	b := make.Queue(fmt.Sprintf("q%d", i)).Weight(int32(rapid.IntRange(-2, 3).Draw(o.t, "weight")))
	for range o.few("limits", 3) {
		resource, amount := rapid.SampledFrom(o.resources()).Draw(o.t, "resource"), o.amount("limit")
		switch o.few("which", 2) {
		case 0:
			b.Capability(resource, amount)
		case 1:
			b.Guarantee(resource, amount)
		case 2:
			b.Deserved(resource, amount)
		}
	}
	b.Parent(rapid.SampledFrom([]string{"", "root", "q0", "q1", "q2", "nowhere"}).Draw(o.t, "parent"))
	if rapid.Bool().Draw(o.t, "fifo") {
		b.Fifo()
	}
	o.strew(b.Obj())
	return b.Obj()
}

func (o odd) gang(i int) *schedulingv1beta1.PodGroup {
	b := make.Gang(fmt.Sprintf("g%d", i)).Min(rapid.IntRange(-1, 5).Draw(o.t, "min")).Queue(rapid.SampledFrom([]string{"q0", "q1", "q2", "default", "nowhere", ""}).Draw(o.t, "queue"))
	b.PriorityClass(rapid.SampledFrom([]string{"", "high", "low", "nowhere"}).Draw(o.t, "class"))
	b.Age(time.Duration(rapid.IntRange(-100, 100).Draw(o.t, "age")) * time.Hour)
	if rapid.Bool().Draw(o.t, "by task") {
		b.MinTask(rapid.SampledFrom([]string{"", "a", "b"}).Draw(o.t, "task"), rapid.IntRange(-1, 3).Draw(o.t, "task min"))
	}
	if rapid.Bool().Draw(o.t, "min resources") {
		b.MinResource(rapid.SampledFrom(o.resources()).Draw(o.t, "resource"), o.amount("min"))
	}
	if o.few("topology", 2) == 0 {
		tier := rapid.SampledFrom([]int{-1, 0, 1, 2, 1 << 30}).Draw(o.t, "tier")
		mode := rapid.SampledFrom([]schedulingv1beta1.NetworkTopologyMode{"hard", "soft", ""}).Draw(o.t, "mode")
		b.Topology(&schedulingv1beta1.NetworkTopologySpec{Mode: mode, HighestTierAllowed: &tier})
	}
	if account := rapid.SampledFrom([]string{"", "", "a0", "a1", "nowhere"}).Draw(o.t, "account"); account != "" {
		b.Label("vc-batch.dev/account", account)
	}
	o.strew(b.Obj())
	return b.Obj()
}

// account returns an account that may be its own ancestor.
func (o odd) account(i int) *accountv1alpha1.Account {
	counts := []int32{-1 << 31, 0, 1, 1<<31 - 1}
	return make.Account(fmt.Sprintf("a%d", i)).Parent(rapid.SampledFrom([]string{"", "a0", "a1", "nowhere"}).Draw(o.t, "parent")).
		MaxRunningJobs(rapid.SampledFrom(counts).Draw(o.t, "jobs")).MaxResource(rapid.SampledFrom(o.resources()).Draw(o.t, "resource"), o.amount("limit")).
		UserMaxRunningJobs("", rapid.SampledFrom(counts).Draw(o.t, "jobs of users")).UserMaxResource("", rapid.SampledFrom(o.resources()).Draw(o.t, "resource"), o.amount("limit")).Obj()
}

func (o odd) pod(gang string, i int) *corev1.Pod {
	b := make.Pod(fmt.Sprintf("%s-%d", gang, i)).Gang(gang).Role(rapid.SampledFrom([]string{"", "a", "b"}).Draw(o.t, "role"))
	for range o.few("requests", 3) {
		b.Resource(rapid.SampledFrom(o.resources()).Draw(o.t, "resource"), o.amount("request"))
	}
	if o.few("runs", 4) == 0 {
		b.On(rapid.SampledFrom([]string{"n0", "n1", "gone"}).Draw(o.t, "node")).Phase(corev1.PodRunning)
	}
	b.Priority(rapid.SampledFrom([]int32{0, 1, -1 << 31, 1<<31 - 1}).Draw(o.t, "priority"))
	if o.few("limited", 3) == 0 {
		seconds := rapid.SampledFrom([]int64{-1, 0, 60, 1<<63 - 1}).Draw(o.t, "limit")
		b.Obj().Spec.ActiveDeadlineSeconds = &seconds
	}
	o.strew(b.Obj())
	o.pods[b.Obj().Name] = b.Obj()
	return b.Obj()
}

func (o odd) hyperNode(i int) *topologyv1alpha1.HyperNode {
	h := &topologyv1alpha1.HyperNode{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("h%d", i)}}
	h.Spec.Tier = rapid.SampledFrom([]int{-1, 0, 1, 2, 1 << 30}).Draw(o.t, "tier")
	for range o.few("members", 3) {
		kind := rapid.SampledFrom([]topologyv1alpha1.MemberType{"Node", "HyperNode", "Cat"}).Draw(o.t, "kind")
		name := rapid.SampledFrom([]string{"n0", "n1", "h0", "h1", "gone", ""}).Draw(o.t, "member")
		member := topologyv1alpha1.MemberSpec{Type: kind}
		switch o.few("selector", 2) {
		case 0:
			member.Selector.ExactMatch = &topologyv1alpha1.ExactMatch{Name: name}
		case 1:
			member.Selector.RegexMatch = &topologyv1alpha1.RegexMatch{Pattern: rapid.SampledFrom([]string{".*", "(", "", "n[0-9]"}).Draw(o.t, "pattern")}
		}
		h.Spec.Members = append(h.Spec.Members, member)
	}
	return h
}

// numa draws the Numatopology of a node.
func (o odd) numa(i int) *nodeinfov1alpha1.Numatopology {
	n := &nodeinfov1alpha1.Numatopology{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i)}}
	n.Spec.Policies = map[nodeinfov1alpha1.PolicyName]string{
		nodeinfov1alpha1.CPUManagerPolicy:      rapid.SampledFrom([]string{"static", "none", "x"}).Draw(o.t, "cpu manager"),
		nodeinfov1alpha1.TopologyManagerPolicy: rapid.SampledFrom([]string{"single-numa-node", "restricted", "best-effort", "x"}).Draw(o.t, "topology manager"),
	}
	n.Spec.NumaResMap = map[string]nodeinfov1alpha1.ResourceInfo{
		"cpu": {Allocatable: rapid.SampledFrom([]string{"0-3", "0", "5-0", "x", ""}).Draw(o.t, "free"), Capacity: o.few("capacity", 8) - 1},
	}
	n.Spec.ResReserved = map[string]string{"cpu": o.amount("reserved")}
	n.Spec.CPUDetail = map[string]nodeinfov1alpha1.CPUInfo{}
	for cpu := range o.few("cpus", 5) {
		n.Spec.CPUDetail[fmt.Sprint(cpu)] = nodeinfov1alpha1.CPUInfo{NUMANodeID: o.few("numa node", 3) - 1, SocketID: o.few("socket", 2) - 1, CoreID: o.few("core", 4) - 1}
	}
	return n
}

// load draws the measured load of a node.
func (o odd) load(i int) model.NodeUsageSet {
	percent := []float64{0, 50, -1, 100, 1e30, math.NaN(), math.Inf(1)}
	return model.NodeUsageSet{Node: fmt.Sprintf("n%d", i), NodeUsage: model.NodeUsage{
		CPUPercent: rapid.SampledFrom(percent).Draw(o.t, "cpu in use"), MemoryPercent: rapid.SampledFrom(percent).Draw(o.t, "memory in use"), At: make.Epoch,
	}}
}

// deltas returns a cluster, in any order.
func (o odd) deltas() []model.Delta {
	var all []model.Delta
	for i := range 1 + o.few("nodes", 2) {
		all = append(all, model.NodeFrom(o.node(i)))
	}
	for i := range 1 + o.few("queues", 2) {
		all = append(all, model.QueueFrom(o.queue(i)))
	}
	for i := range o.few("hyperNodes", 2) {
		all = append(all, model.HyperNodeFrom(o.hyperNode(i)))
	}
	for i := range o.few("accounts", 2) {
		all = append(all, model.AccountFrom(o.account(i)))
	}
	for i := range 1 + o.few("gangs", 3) {
		gang := o.gang(i)
		all = append(all, model.GangFrom(gang))
		for k := range o.few("pods", 4) {
			all = append(all, model.TaskFrom(o.pod(gang.Name, k), true))
		}
	}
	for i := range o.few("measured nodes", 2) {
		all = append(all, model.NumaFrom(o.numa(i)), o.load(i))
	}
	for _, class := range []string{"high", "low"} {
		all = append(all, model.PriorityClassSet{Name: class, Value: rapid.SampledFrom([]int32{0, 5, -1 << 31, 1<<31 - 1}).Draw(o.t, "class")})
	}
	if rapid.Bool().Draw(o.t, "budget") {
		wish := intstr.FromString(rapid.SampledFrom([]string{"50%", "-1%", "x", "999999999999999%"}).Draw(o.t, "budget of"))
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b"}}
		budget.Spec.MinAvailable, budget.Spec.Selector = &wish, &metav1.LabelSelector{}
		all = append(all, model.BudgetFrom(budget))
	}
	if rapid.Bool().Draw(o.t, "quota") {
		quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "q"}}
		list := make.Node("x").Resource("requests.cpu", o.amount("hard")).Resource("pods", o.amount("hard pods")).Obj().Status.Allocatable
		quota.Spec.Hard, quota.Status.Hard = list, list
		all = append(all, model.QuotaFrom(quota))
	}
	return rapid.Permutation(all).Draw(o.t, "order")
}

// parsedConfigurations returns the configurations of everything. They must contain all policies.
func parsedConfigurations(t testing.TB) []*config.Config {
	t.Helper()
	var all []*config.Config
	named := map[string]bool{}
	for _, text := range everything {
		cfg, _, err := config.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, tier := range cfg.Tiers {
			for _, p := range tier.Plugins {
				named[p.Name] = true
			}
		}
		all = append(all, cfg)
	}
	for _, policy := range Policies() {
		if !named[policy] {
			t.Fatalf("no configuration in everything has the policy %s: add it to one", policy)
		}
	}
	return all
}

// survives runs some cycles of a cluster and reports violations.
func survives(cfg *config.Config, deltas []model.Delta, w made) error {
	run := func() (all []decision.Decisions, err error) {
		e, err := New(cfg)
		if err != nil {
			return nil, err
		}
		c := model.New()
		for _, d := range deltas {
			c.Apply(d)
		}
		for i := range 3 {
			d := e.Cycle(make.Epoch.Add(time.Duration(i)*30*time.Second), c)
			decision.Assume(c, &d)
			all = append(all, d)
		}
		return all, nil
	}
	first, err := run()
	if err != nil {
		return err
	}
	again, _ := run()
	if diff := cmp.Diff(first, again); diff != "" {
		return fmt.Errorf("the same cluster is decided in two ways (-first +again):\n%s", diff)
	}
	return w.holds(first)
}

// holds sums what was bound, in numbers of any size, and compares it with the capacity of the nodes.
func (w made) holds(decisions []decision.Decisions) error {
	bound := map[string]bool{}
	used := map[string]corev1.ResourceList{}
	for _, d := range decisions {
		for _, b := range d.Binds {
			if bound[b.Pod.Name] {
				return fmt.Errorf("%s is bound twice", b.Pod.Name)
			}
			bound[b.Pod.Name] = true
			if used[b.Node] == nil {
				used[b.Node] = corev1.ResourceList{}
			}
			for name, amount := range w.pods[b.Pod.Name].Spec.Containers[0].Resources.Requests {
				sum := used[b.Node][name]
				if amount.Sign() > 0 {
					sum.Add(amount)
				}
				used[b.Node][name] = sum
			}
		}
	}
	for node, list := range used {
		if w.nodes[node] == nil {
			return fmt.Errorf("pods are bound to %q, which does not exist", node)
		}
		for _, name := range []corev1.ResourceName{"cpu", "memory", "nvidia.com/gpu"} {
			sum, has := list[name], w.nodes[node].Status.Allocatable[name]
			if sum.Cmp(has) > 0 && sum.Sign() > 0 {
				return fmt.Errorf("%s has %s of %s, and pods with %s are bound to it", node, has.String(), name, sum.String())
			}
		}
	}
	return nil
}

// TestNonsenseAnywhereDoesNoHarm checks that every policy makes decisions, and the same ones each time, whatever is
// in annotations, labels, amounts, trees and topologies.
func TestNonsenseAnywhereDoesNoHarm(t *testing.T) {
	t.Parallel()
	keys, configurations := keyed(t), parsedConfigurations(t)
	if len(keys) < 60 {
		t.Fatalf("only %d keys were found in the sources: %v", len(keys), keys)
	}
	propertytest.Check(t, 2000, func(t *rapid.T) {
		o := odd{t, keys, newMade()}
		deltas := o.deltas()
		for i, cfg := range configurations {
			if err := survives(cfg, deltas, o.made); err != nil {
				t.Fatalf("configuration %d: %v", i, err)
			}
		}
	})
}

// FuzzNotes sets arbitrary text for any key that is read anywhere, on a node, a queue, a gang and its pods.
func FuzzNotes(f *testing.F) {
	keys, configurations := keyed(f), parsedConfigurations(f)
	for i, oddity := range oddities {
		f.Add(uint(i), oddity, uint(i/2), "1")
	}
	f.Fuzz(func(t *testing.T, one uint, is string, other uint, be string) {
		notes := map[string]string{keys[one%uint(len(keys))]: is, keys[other%uint(len(keys))]: be}
		note := func(object metav1.Object) {
			annotations, labels := object.GetAnnotations(), object.GetLabels()
			if annotations == nil {
				annotations = map[string]string{}
			}
			if labels == nil {
				labels = map[string]string{}
			}
			for key, value := range notes {
				annotations[key], labels[key] = value, value
			}
			object.SetAnnotations(annotations)
			object.SetLabels(labels)
		}
		node, queue, gang := make.Node("n0").CPU("2").Resource("volcano.sh/vgpu-number", "2").Obj(), make.Queue("q0").Obj(), make.Gang("g0").Min(2).Queue("q0").Obj()
		note(node)
		note(queue)
		note(gang)
		w := newMade()
		w.nodes[node.Name] = node
		deltas := []model.Delta{model.NodeFrom(node), model.QueueFrom(queue), model.GangFrom(gang)}
		for i := range 3 {
			pod := make.Pod(fmt.Sprintf("g0-%d", i)).Gang("g0").CPU("1").Resource("volcano.sh/vgpu-number", "1").Obj()
			note(pod)
			w.pods[pod.Name] = pod
			deltas = append(deltas, model.TaskFrom(pod, true))
		}
		for i, cfg := range configurations {
			if err := survives(cfg, deltas, w); err != nil {
				t.Fatalf("configuration %d: %v", i, err)
			}
		}
	})
}
