package evict_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// TestShuffleTakesThePodThatItMeans has two pods of one name in two namespaces, one on an overused node and one on
// an underused node: the first is evicted, and the other stays. (Volcano identifies pods only by name.)
func TestShuffleTakesThePodThatItMeans(t *testing.T) {
	cfg, warnings, err := config.Parse([]byte(`
actions: "allocate, shuffle"
tiers:
- plugins: [{name: gang}]
- plugins:
  - name: rescheduling
    arguments: {strategies: [{name: lowNodeUtilization, params: {thresholds: {cpu: 30}, targetThresholds: {cpu: 60}}}]}
  - name: predicates
metrics: {type: prometheus, address: "http://prometheus:9090"}
`))
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	for _, busy := range []string{"one", "two"} {
		t.Run("the busy node has that of namespace "+busy, func(t *testing.T) {
			e, err := scheduler.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			m, now := model.New(), make.Epoch.Add(time.Hour)
			m.Apply(model.QueueFrom(make.Queue("default").Obj()))
			for _, namespace := range []string{"one", "two"} {
				node, load := "calm", 10.0
				if namespace == busy {
					node, load = "busy", 90
				}
				p := make.Pod("web").Namespace(namespace).Gang("g").CPU("2").On(node).Phase(corev1.PodRunning).Obj()
				p.UID = types.UID("web-of-" + namespace)
				g := make.Gang("g").Namespace(namespace).Queue("default").Obj()
				g.UID = types.UID("g-of-" + namespace)
				m.Apply(
					model.NodeFrom(make.Node(node).CPU("10").Memory("10Gi").Obj()),
					model.NodeUsageSet{Node: node, NodeUsage: model.NodeUsage{CPUPercent: load, MemoryPercent: 10, At: now}},
					model.GangFrom(g),
					model.TaskFrom(p, true),
				)
			}
			d := e.Cycle(now, m)
			decision.Assume(m, &d)
			if len(d.Evicts) != 1 || d.Evicts[0].Pod.Namespace != busy || d.Evicts[0].Node != "busy" {
				t.Errorf("evicted %+v, want the pod of namespace %s alone", d.Evicts, busy)
			}
		})
	}
}
