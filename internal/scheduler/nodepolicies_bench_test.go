package scheduler

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/make"
)

// policyMix is a load with one policy that evaluates nodes: gangs of 10 request half of the cluster's resources.
type policyMix struct {
	policy string // as in the configuration
	source string // source of the nodes' load, as in the configuration
	floor  float64
	node   func(b *make.NodeBuilder, i int) model.Delta // nil for no additions to the node
	pod    func(b *make.PodBuilder)
}

// The floors are from the issue: 20,000 decided pods per second for policies that use the judge's tables, 5,000 if
// every node is evaluated for every pod.
func policyMixes() map[string]policyMix {
	return map[string]policyMix{
		"usage": {
			policy: "{name: usage}", source: "metrics: {type: prometheus, address: \"http://prometheus:9090\"}\n", floor: 20_000,
			node: func(b *make.NodeBuilder, i int) model.Delta {
				return model.NodeUsageSet{Node: b.Obj().Name, NodeUsage: model.NodeUsage{CPUPercent: float64(i % 70), MemoryPercent: 10, At: make.Epoch}}
			},
		},
		"resource-strategy-fit": {policy: "{name: resource-strategy-fit, arguments: {proportional: {enable: true, resources: nvidia.com/gpu, resourceProportion: {nvidia.com/gpu.cpu: 1}}, sra: {enable: true, resources: nvidia.com/gpu}}}", floor: 20_000},
		"tdm": {
			policy: `{name: tdm, enabledVictim: false, arguments: {tdm.revocable-zone.z: "00:00-23:59", tdm.time-zone: UTC}}`, floor: 20_000,
			node: func(b *make.NodeBuilder, i int) model.Delta {
				if i%2 == 0 {
					b.Label(keys.RevocableZone, "z")
				}
				return nil
			},
			pod: func(b *make.PodBuilder) { b.Annotation(keys.RevocableZone, "*") },
		},
		"nodegroup": {
			policy: "{name: nodegroup, arguments: {strict: false}}", floor: 5_000,
			node: func(b *make.NodeBuilder, i int) model.Delta {
				if i%2 == 0 {
					b.Label(keys.NodeGroup, "other")
				}
				return nil
			},
		},
		"deviceshare": {
			policy: "{name: deviceshare, arguments: {deviceshare.VGPUEnable: true}}", floor: 1_000,
			node: func(b *make.NodeBuilder, i int) model.Delta {
				name := b.Obj().Name
				b.Resource(string(keys.VGPUNumber), "40").Resource(string(keys.VGPUMemory), "64000")
				b.Annotation(keys.VGPURegister, fmt.Sprintf("%s-0,10,16000,T4,true:%s-1,10,16000,T4,true:%s-2,10,16000,T4,true:%s-3,10,16000,T4,true:", name, name, name, name))
				return nil
			},
			pod: func(b *make.PodBuilder) {
				b.Resource(string(keys.VGPUNumber), "1").Resource(string(keys.VGPUMemory), "4000")
			},
		},
		"numa-aware": {
			policy: "{name: numa-aware}", floor: 1_000,
			node: func(b *make.NodeBuilder, i int) model.Delta {
				o := &nodeinfov1alpha1.Numatopology{}
				o.Name = b.Obj().Name
				o.Spec.Policies = map[nodeinfov1alpha1.PolicyName]string{nodeinfov1alpha1.CPUManagerPolicy: "static", nodeinfov1alpha1.TopologyManagerPolicy: "single-numa-node"}
				o.Spec.NumaResMap = map[string]nodeinfov1alpha1.ResourceInfo{"cpu": {Allocatable: "0-31"}}
				o.Spec.CPUDetail = map[string]nodeinfov1alpha1.CPUInfo{}
				for cpu := range 32 {
					o.Spec.CPUDetail[fmt.Sprint(cpu)] = nodeinfov1alpha1.CPUInfo{NUMANodeID: cpu / 16, SocketID: cpu / 16, CoreID: cpu % 16 / 2}
				}
				return model.NumaFrom(o)
			},
			pod: func(b *make.PodBuilder) {
				b.Obj().Spec.Containers[0].Resources.Limits = b.Obj().Spec.Containers[0].Resources.Requests
				b.Obj().Status.QOSClass = corev1.PodQOSGuaranteed
			},
		},
	}
}

func (m *policyMix) load(t *testing.T, nodes, pods int) (*Engine, *model.Cluster) {
	cfg, _, err := config.Parse(fmt.Appendf(nil, "actions: \"enqueue, allocate\"\ntiers:\n- plugins: [{name: gang}, {name: predicates}, {name: proportion}, {name: binpack}, %s]\n%s", m.policy, m.source))
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(cfg)
	if err != nil || len(e.Warnings) > 0 {
		t.Fatal(err, e.Warnings)
	}
	c := model.New()
	c.Apply(model.QueueFrom(make.Queue("default").Obj()))
	for i := range nodes {
		b := make.Node(fmt.Sprintf("node-%05d", i)).CPU("32").Memory("128Gi")
		var more model.Delta
		if m.node != nil {
			more = m.node(b, i)
		}
		c.Apply(model.NodeFrom(b.Obj()))
		if more != nil {
			c.Apply(more)
		}
	}
	for i := range pods {
		gang := fmt.Sprintf("gang-%05d", i/10)
		if i%10 == 0 {
			c.Apply(model.GangFrom(make.Gang(gang).Min(10).Obj()))
		}
		b := make.Pod(fmt.Sprintf("%s-%d", gang, i%10)).Gang(gang).CPU("2").Memory("2Gi")
		if m.pod != nil {
			m.pod(b)
		}
		c.Apply(model.TaskFrom(b.Obj(), true))
	}
	return e, c
}

// TestNodePoliciesFloor fails if a policy that evaluates nodes makes the engine too slow.
func TestNodePoliciesFloor(t *testing.T) {
	measured(t)
	for name, m := range policyMixes() {
		for _, nodes := range sizes {
			t.Run(fmt.Sprintf("%s, %d nodes", name, nodes), func(t *testing.T) {
				pods := 4 * nodes
				e, c := m.load(t, nodes, pods)
				runtime.GC()
				start := time.Now()
				d := e.Cycle(make.Epoch, c)
				each := float64(len(d.Binds)) / time.Since(start).Seconds()
				if len(d.Binds) != pods {
					t.Fatalf("decided %d of %d pods", len(d.Binds), pods)
				}
				told(t, "decided pods/s with "+name+", one shape", nodes, each, "pods/s")
				if each < m.floor {
					t.Errorf("%.0f a second; the floor is %.0f", each, m.floor)
				}
			})
		}
	}
}
