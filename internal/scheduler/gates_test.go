package scheduler

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/make"
)

// TestEveryGateHasAReasonWithinASecond blocks a gang at each gate. One second later its PodGroup, or its pod if
// there is no PodGroup, must have the reason.
func TestEveryGateHasAReasonWithinASecond(t *testing.T) {
	node := model.NodeFrom(make.Node("a").CPU("4").Obj())
	pod := func(b *make.PodBuilder) model.Delta { return model.TaskFrom(b.Obj(), true) }
	gang := func(queue string, minimum int) model.Delta {
		return model.GangFrom(make.Gang("g").Min(minimum).Queue(queue).Obj())
	}
	one := pod(make.Pod("g-0").Gang("g").CPU("1"))
	closed := make.Queue("closed").State(schedulingv1beta1.QueueStateClosed).Obj()
	closedByParent := make.Queue("child").Parent("closed").State(schedulingv1beta1.QueueStateClosed).Obj()
	for name, gate := range map[string]struct {
		world []model.Delta
		want  reason.Code
	}{
		"its queue does not exist":             {[]model.Delta{node, gang("nowhere", 1), one}, reason.QueueMissing},
		"its queue is closed":                  {[]model.Delta{node, model.QueueFrom(closed), gang("closed", 1), one}, reason.QueueClosed},
		"its queue is closed by its parent":    {[]model.Delta{node, model.QueueFrom(closed), model.QueueFrom(closedByParent), gang("child", 1), one}, reason.QueueClosed},
		"its queue is closing":                 {[]model.Delta{node, model.QueueFrom(make.Queue("closing").State(schedulingv1beta1.QueueStateClosing).Obj()), gang("closing", 1), one}, reason.QueueClosed},
		"the state of its queue is unknown":    {[]model.Delta{node, model.QueueFrom(make.Queue("odd").State(schedulingv1beta1.QueueStateUnknown).Obj()), gang("odd", 1), one}, reason.QueueClosed},
		"its pods are gated":                   {[]model.Delta{node, gang("default", 1), pod(make.Pod("g-0").Gang("g").CPU("1").Gate("x"))}, reason.SchedulingGated},
		"it has fewer pods than its minimum":   {[]model.Delta{node, gang("default", 2), one}, reason.NotEnoughPods},
		"there are no nodes":                   {[]model.Delta{gang("default", 1), one}, reason.NoNodes},
		"no node is large enough":              {[]model.Delta{node, gang("default", 1), pod(make.Pod("g-0").Gang("g").CPU("5"))}, reason.TooLarge},
		"a pod asks for what nobody ever has":  {[]model.Delta{node, gang("default", 1), pod(make.Pod("g-0").Gang("g").CPU("1").Resource("example.com/x", "1"))}, reason.TooLarge},
		"no node has its labels":               {[]model.Delta{node, gang("default", 1), pod(make.Pod("g-0").Gang("g").CPU("1").Select("a", "b"))}, reason.GangDoesNotFit},
		"its queue may not hold as much":       {[]model.Delta{node, model.QueueFrom(make.Queue("small").Capability("cpu", "500m").Obj()), gang("small", 1), one}, reason.OverCapability},
		"its pod names a PodGroup that is not": {[]model.Delta{node, one}, reason.PodGroupMissing},
		"its pod names a PodGroup elsewhere":   {[]model.Delta{node, gang("default", 1), pod(make.Pod("g-0").Namespace("other").Gang("g").CPU("1"))}, reason.PodGroupMissing},
		"its pod names no PodGroup":            {[]model.Delta{node, pod(make.Pod("g-0").CPU("1"))}, reason.PodGroupMissing},
	} {
		t.Run(name, func(t *testing.T) {
			if told := toldWithinASecond(t, config.DefaultText, gate.world, gate.want); !told[string(gate.want)] {
				t.Errorf("told within a second: %v, want %s", told, gate.want)
			}
		})
	}
}

// TestEveryGateOfAPolicyHasAReasonWithinASecond is TestEveryGateHasAReasonWithinASecond for gates that only some
// configurations have. The gates for volumes and devices are in the stories, because they need Kubernetes' plugins.
func TestEveryGateOfAPolicyHasAReasonWithinASecond(t *testing.T) {
	const overcommit = `
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: gang}, {name: overcommit}]
- plugins: [{name: predicates}, {name: proportion}]
`
	const quotas = `
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: gang}, {name: resourcequota}]
- plugins: [{name: predicates}, {name: proportion}]
`
	node := model.NodeFrom(make.Node("a").CPU("4").Obj())
	gang := func(b *make.GangBuilder) model.Delta { return model.GangFrom(b.Obj()) }
	pod := func(name, cpu string) model.Delta {
		return model.TaskFrom(make.Pod(name+"-0").Gang(name).CPU(cpu).Obj(), true)
	}
	quota := &corev1.ResourceQuota{}
	quota.Name, quota.Namespace = "small", "default"
	quota.Spec.Hard = corev1.ResourceList{"cpu": apiresource.MustParse("1")}
	quota.Status.Hard = quota.Spec.Hard
	near := func(b *make.GangBuilder, tier int) *make.GangBuilder {
		return b.Topology(&schedulingv1beta1.NetworkTopologySpec{Mode: schedulingv1beta1.HardNetworkTopologyMode, HighestTierAllowed: &tier})
	}
	for name, gate := range map[string]struct {
		config string
		world  []model.Delta
		want   reason.Code
	}{
		"its namespace may not have as much": {quotas, []model.Delta{node, model.QuotaFrom(quota), gang(make.Gang("g").Queue("default").MinResource("cpu", "2"))}, reason.OverQuota},
		"as much as may be promised is promised": {overcommit, []model.Delta{
			node, gang(make.Gang("first").Queue("default").MinResource("cpu", "4").Phase(schedulingv1beta1.PodGroupInqueue)), pod("first", "4"),
			gang(make.Gang("g").Queue("default").MinResource("cpu", "4")), pod("g", "4"),
		}, reason.Overcommitted},
		"its queue, a leaf, may not hold as much": {clustertest.Configurations["capacity"], []model.Delta{
			node, model.QueueFrom(make.Queue("small").Capability("cpu", "1").Obj()), gang(make.Gang("g").Queue("small").MinResource("cpu", "2")), pod("g", "2"),
		}, reason.OverCapability},
		"a queue above its own may not hold as much": {clustertest.Configurations["a tree of queues"], []model.Delta{
			node, model.QueueFrom(make.Queue("root").Obj()), model.QueueFrom(make.Queue("above").Parent("root").Capability("cpu", "1").Obj()),
			model.QueueFrom(make.Queue("leaf").Parent("above").Obj()), gang(make.Gang("g").Queue("leaf").MinResource("cpu", "2")), pod("g", "2"),
		}, reason.OverCapability},
		"its queue has queues below it": {clustertest.Configurations["a tree of queues"], []model.Delta{
			node, model.QueueFrom(make.Queue("root").Obj()), model.QueueFrom(make.Queue("above").Parent("root").Obj()),
			model.QueueFrom(make.Queue("leaf").Parent("above").Obj()), gang(make.Gang("g").Queue("above")), pod("g", "1"),
		}, reason.QueueNotLeaf},
		"its queue's parent does not exist": {clustertest.Configurations["a tree of queues"], []model.Delta{
			node, model.QueueFrom(make.Queue("root").Obj()), model.QueueFrom(make.Queue("orphan").Parent("nobody").Obj()), gang(make.Gang("g").Queue("orphan")), pod("g", "1"),
		}, reason.QueueInvalid},
		"no hyperNode is of its tier": {clustertest.TopologyConfig, []model.Delta{
			node, clustertest.HyperNode("rack", 2, topologyv1alpha1.MemberTypeNode, "a"), gang(near(make.Gang("g").Queue("default"), 1)), pod("g", "1"),
		}, reason.NoHyperNode},
	} {
		t.Run(name, func(t *testing.T) {
			if told := toldWithinASecond(t, gate.config, gate.world, gate.want); !told[string(gate.want)] {
				t.Errorf("told within a second: %v, want %s", told, gate.want)
			}
		})
	}
}

// toldWithinASecond returns the reasons reported on gang g, or on its pod, within a second.
func toldWithinASecond(t *testing.T, text string, world []model.Delta, want reason.Code) map[string]bool {
	t.Helper()
	cfg, _, err := config.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m, now := model.New(), make.Epoch
	m.Apply(model.QueueFrom(make.Queue("default").Obj()))
	m.Apply(world...)
	told := map[string]bool{}
	for end := now.Add(time.Second); !now.After(end); {
		d := e.Cycle(now, m)
		decision.Assume(m, &d)
		for _, g := range d.Gangs {
			if g.Status.Explanation != nil && g.Gang.Name == "g" {
				told[g.Status.Explanation.Reason] = true
			}
		}
		for _, c := range d.PodConditions {
			if c.Reason == corev1.PodReasonUnschedulable && c.Message == reason.Get(want).Sentence {
				told[string(want)] = true
			}
		}
		if d.WakeAt.IsZero() || !d.WakeAt.After(now) {
			break
		}
		now = d.WakeAt
	}
	return told
}
