package metricsapi

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/local/processnode"
)

var start = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// container returns the use of a container of a pod in namespace default.
func container(pod, name string, startedAfter, cpuTime time.Duration, memoryBytes int64) processnode.ContainerUse {
	return processnode.ContainerUse{
		Pod: types.NamespacedName{Namespace: "default", Name: pod}, PodLabels: map[string]string{"app": pod}, Container: name, ID: pod + "/" + name,
		StartedAt: start.Add(startedAfter), CPUTime: cpuTime, MemoryBytes: memoryBytes,
	}
}

// podUse is the use of a pod in a test: containers are summed up.
type podUse struct {
	MilliCPU, MemoryBytes int64
	Window                time.Duration
}

func TestMetricsAreRatesBetweenTwoMeasurements(t *testing.T) {
	t.Parallel()
	before := Measurement{At: start.Add(10 * time.Second), Nodes: map[string][]processnode.ContainerUse{
		"node-1": {container("a", "main", 0, 4*time.Second, 1<<20), container("restarted", "main", 0, 100*time.Second, 1<<20)}, "node-2": {},
	}}
	restarted := container("restarted", "main", 15*time.Second, time.Second, 1<<20)
	restarted.ID = "restarted/main/2"
	now := Measurement{At: start.Add(20 * time.Second), Nodes: map[string][]processnode.ContainerUse{
		"node-1": {
			container("a", "main", 0, 9*time.Second, 3<<20),               // half a core
			container("a", "sidecar", 16*time.Second, time.Second, 1<<20), // a quarter of a core, for four seconds
			container("young", "main", 19500*time.Millisecond, time.Second, 1<<20),
			restarted,
		},
		"node-2": {},
	}}
	got := computeMetrics(before, now)
	pods := map[string]podUse{}
	for _, pod := range got.pods {
		use := podUse{Window: pod.Window.Duration}
		for _, c := range pod.Containers {
			use.MilliCPU += c.Usage.Cpu().MilliValue()
			use.MemoryBytes += c.Usage.Memory().Value()
		}
		pods[pod.Name] = use
	}
	if diff := cmp.Diff(map[string]podUse{
		"a":         {MilliCPU: 750, MemoryBytes: 4 << 20, Window: 10 * time.Second},
		"restarted": {MilliCPU: 200, MemoryBytes: 1 << 20, Window: 5 * time.Second},
	}, pods); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	nodes := map[string]podUse{}
	for _, node := range got.nodes {
		nodes[node.Name] = podUse{MilliCPU: node.Usage.Cpu().MilliValue(), MemoryBytes: node.Usage.Memory().Value(), Window: node.Window.Duration}
	}
	if diff := cmp.Diff(map[string]podUse{"node-1": {950, 5 << 20, 10 * time.Second}, "node-2": {Window: 10 * time.Second}}, nodes); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

func TestTheFirstMeasurementGivesMetricsOnlyOfContainersThatStartedBefore(t *testing.T) {
	t.Parallel()
	got := computeMetrics(Measurement{}, Measurement{At: start.Add(20 * time.Second), Nodes: map[string][]processnode.ContainerUse{"node-1": {container("a", "main", 0, 10*time.Second, 1<<20)}}})
	if len(got.nodes) != 0 || len(got.pods) != 1 || got.pods[0].Containers[0].Usage.Cpu().MilliValue() != 500 {
		t.Errorf("%+v", got)
	}
}

func TestMetricsOfRemovedNodesDisappear(t *testing.T) {
	t.Parallel()
	s := &Store{}
	s.Add(Measurement{At: start.Add(10 * time.Second), Nodes: map[string][]processnode.ContainerUse{"node-1": {container("a", "main", 0, 0, 1<<20)}}})
	s.Add(Measurement{At: start.Add(20 * time.Second)})
	if got := s.currentMetrics(); len(got.nodes) != 0 || len(got.pods) != 0 {
		t.Errorf("%+v", got)
	}
}
