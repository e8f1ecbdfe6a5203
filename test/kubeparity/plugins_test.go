package kubeparity

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/util/workqueue"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	kubeframework "k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/imagelocality"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
)

// handle implements the parts of kube-scheduler's handle that its plugins use.
type handle struct {
	fwk.Handle
	snapshot *cache.Snapshot
	factory  informers.SharedInformerFactory
}

func (h *handle) SnapshotSharedLister() fwk.SharedLister                 { return h.snapshot }
func (h *handle) SharedInformerFactory() informers.SharedInformerFactory { return h.factory }
func (h *handle) Parallelizer() fwk.Parallelizer                         { return inTurn{} }
func (h *handle) SharedDRAManager() fwk.SharedDRAManager                 { return nil }

// inTurn executes pieces of work sequentially.
type inTurn struct{}

func (inTurn) Until(_ context.Context, pieces int, work workqueue.DoWorkPieceFunc, _ string) {
	for i := range pieces {
		work(i)
	}
}

// plugins holds the compared plugins for one state of the cluster.
type plugins struct {
	t        fataler
	ctx      context.Context
	snapshot *cache.Snapshot
	filters  []fwk.Plugin
	affinity, spread,
	least, most, balanced, images, nodeAffinity, taints fwk.Plugin
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

var _ fataler = (*testing.T)(nil)

func newPlugins(t fataler, nodes []*corev1.Node, pods []*corev1.Pod, namespaces []*corev1.Namespace) *plugins {
	t.Helper()
	p := &plugins{t: t, ctx: context.Background(), snapshot: cache.NewSnapshot(pods, nodes)}
	h := &handle{snapshot: p.snapshot, factory: informers.NewSharedInformerFactory(fake.NewClientset(), 0)}
	for _, n := range namespaces {
		if err := h.factory.Core().V1().Namespaces().Informer().GetIndexer().Add(n); err != nil {
			t.Fatalf("%v", err)
		}
	}
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	gates.EnableDRAExtendedResource = false // would need a device manager
	newPlugin := func(build func(context.Context, runtime.Object, fwk.Handle, feature.Features) (fwk.Plugin, error), args runtime.Object) fwk.Plugin {
		plugin, err := build(p.ctx, args, h, gates)
		if err != nil {
			t.Fatalf("%v", err)
		}
		return plugin
	}
	fit := func(strategy config.ScoringStrategyType) *config.NodeResourcesFitArgs {
		return &config.NodeResourcesFitArgs{ScoringStrategy: &config.ScoringStrategy{Type: strategy, Resources: []config.ResourceSpec{
			{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1},
		}}}
	}
	p.affinity = newPlugin(interpodaffinity.New, &config.InterPodAffinityArgs{HardPodAffinityWeight: 1})
	p.spread = newPlugin(podtopologyspread.New, &config.PodTopologySpreadArgs{DefaultingType: config.ListDefaulting})
	p.least, p.most = newPlugin(noderesources.NewFit, fit(config.LeastAllocated)), newPlugin(noderesources.NewFit, fit(config.MostAllocated))
	p.balanced = newPlugin(func(ctx context.Context, args runtime.Object, h fwk.Handle, fts feature.Features) (fwk.Plugin, error) {
		return noderesources.NewBalancedAllocation(ctx, args, h, fts)
	}, &config.NodeResourcesBalancedAllocationArgs{Resources: []config.ResourceSpec{
		{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}, {Name: "nvidia.com/gpu", Weight: 1},
	}})
	images, err := imagelocality.New(p.ctx, nil, h)
	if err != nil {
		t.Fatalf("%v", err)
	}
	p.images = images
	p.nodeAffinity, p.taints = newPlugin(nodeaffinity.New, defaults(t, "NodeAffinity")), newPlugin(tainttoleration.New, nil)
	p.filters = []fwk.Plugin{
		newPlugin(nodeunschedulable.New, nil), p.nodeAffinity, p.taints,
		newPlugin(nodeports.New, nil), p.least, p.affinity, p.spread,
	}
	return p
}

// defaults returns kube-scheduler's default arguments of a plugin.
func defaults(t fataler, plugin string) runtime.Object {
	cfg, err := latest.Default()
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, c := range cfg.Profiles[0].PluginConfig {
		if c.Name == plugin {
			return c.Args
		}
	}
	t.Fatalf("no arguments of %s", plugin)
	return nil
}

func (p *plugins) nodes() []fwk.NodeInfo {
	list, err := p.snapshot.NodeInfos().List()
	if err != nil {
		p.t.Fatalf("%v", err)
	}
	return list
}

// verdicts returns for every node the name of the first plugin that rejects the pod, or "".
func (p *plugins) verdicts(pod *corev1.Pod) map[string]string {
	out := map[string]string{}
	nodes := p.nodes()
	for _, n := range nodes {
		out[n.Node().Name] = ""
	}
	reject := func(node, plugin string) {
		if out[node] == "" {
			out[node] = plugin
		}
	}
	for _, plugin := range p.filters {
		state := kubeframework.NewCycleState()
		if pre, ok := plugin.(fwk.PreFilterPlugin); ok {
			result, status := pre.PreFilter(p.ctx, state, pod, nodes)
			if status.IsSkip() {
				continue
			}
			for node := range out {
				if !status.IsSuccess() || !result.AllNodes() && !result.NodeNames.Has(node) {
					reject(node, plugin.Name())
				}
			}
			if !status.IsSuccess() {
				continue
			}
		}
		for _, n := range nodes {
			if status := plugin.(fwk.FilterPlugin).Filter(p.ctx, state, pod, n); !status.IsSuccess() {
				reject(n.Node().Name, plugin.Name())
			}
		}
	}
	return out
}

// scores returns a plugin's scores of some nodes, 0 to 100.
func (p *plugins) scores(plugin fwk.Plugin, pod *corev1.Pod, names []string) map[string]int64 {
	state, out := kubeframework.NewCycleState(), map[string]int64{}
	var nodes []fwk.NodeInfo
	for _, name := range names {
		n, err := p.snapshot.NodeInfos().Get(name)
		if err != nil {
			p.t.Fatalf("%v", err)
		}
		nodes = append(nodes, n)
		out[name] = 0
	}
	if pre, ok := plugin.(fwk.PreScorePlugin); ok {
		if status := pre.PreScore(p.ctx, state, pod, nodes); status.IsSkip() {
			return out
		}
	}
	scorer := plugin.(fwk.ScorePlugin)
	var list fwk.NodeScoreList
	for i, n := range nodes {
		score, status := scorer.Score(p.ctx, state, pod, n)
		if !status.IsSuccess() {
			p.t.Fatalf("%s: %v", plugin.Name(), status)
		}
		list = append(list, fwk.NodeScore{Name: names[i], Score: score})
	}
	if scorer.ScoreExtensions() != nil {
		scorer.ScoreExtensions().NormalizeScore(p.ctx, state, pod, list)
	}
	for _, s := range list {
		out[s.Name] = s.Score
	}
	return out
}
