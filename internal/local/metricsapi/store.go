package metricsapi

import (
	"cmp"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/vc-batch/vc/internal/local/processnode"
)

// minWindow is the shortest time over which a CPU rate is computed. CPU times of processes have a precision of 10 ms.
const minWindow = time.Second

// Measurement contains the use of all running containers of process nodes at one time.
type Measurement struct {
	At time.Time
	// Nodes are the containers by node. A node without containers has an entry.
	Nodes map[string][]processnode.ContainerUse
}

// metrics are the objects of the API, sorted by namespace and name.
type metrics struct {
	nodes []metricsv1beta1.NodeMetrics
	pods  []metricsv1beta1.PodMetrics
}

// Store holds the metrics from the last two measurements.
type Store struct {
	mu      sync.Mutex
	last    Measurement
	current metrics
}

// Add computes new metrics from this measurement and the one before it.
func (s *Store) Add(m Measurement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = computeMetrics(s.last, m)
	s.last = m
}

func (s *Store) currentMetrics() metrics {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// computeMetrics computes metrics from two measurements. A pod has metrics if each of its running containers was
// measured at both times, or started between them and is running for at least minWindow.
func computeMetrics(before, now Measurement) metrics {
	cpuTimeBefore := map[string]time.Duration{}
	for _, containers := range before.Nodes {
		for i := range containers {
			cpuTimeBefore[containers[i].ID] = containers[i].CPUTime
		}
	}
	var result metrics
	for node, containers := range now.Nodes {
		total, pods := measurePods(containers, cpuTimeBefore, before.At, now.At)
		result.pods = append(result.pods, pods...)
		if before.At.IsZero() {
			continue // the rate of a node needs two measurements
		}
		result.nodes = append(result.nodes, metricsv1beta1.NodeMetrics{
			ObjectMeta: metav1.ObjectMeta{Name: node, CreationTimestamp: metav1.NewTime(now.At)}, Timestamp: metav1.NewTime(now.At),
			Window: metav1.Duration{Duration: now.At.Sub(before.At).Round(time.Millisecond)}, Usage: total,
		})
	}
	slices.SortFunc(result.nodes, func(a, b metricsv1beta1.NodeMetrics) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(result.pods, func(a, b metricsv1beta1.PodMetrics) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return result
}

// measurePods returns the metrics of the pods on a node, and the sum of their use. cpuTimeBefore is the CPU time of each
// container at the time before.
func measurePods(containers []processnode.ContainerUse, cpuTimeBefore map[string]time.Duration, before, now time.Time) (corev1.ResourceList, []metricsv1beta1.PodMetrics) {
	total := corev1.ResourceList{corev1.ResourceCPU: {}, corev1.ResourceMemory: {}}
	pods := map[types.NamespacedName]*metricsv1beta1.PodMetrics{}
	incomplete := map[types.NamespacedName]bool{}
	for i := range containers {
		c := &containers[i]
		earlier, wasRunning := cpuTimeBefore[c.ID]
		since := before
		if !wasRunning {
			since = c.StartedAt
		}
		window := now.Sub(since)
		if window < minWindow {
			incomplete[c.Pod] = true
			continue
		}
		used := usedResources(c.CPUTime-earlier, window, c.MemoryBytes)
		addResources(total, used)
		pod := pods[c.Pod]
		if pod == nil {
			pod = newPodMetrics(c, now)
			pods[c.Pod] = pod
		}
		pod.Window.Duration = max(pod.Window.Duration, window.Round(time.Millisecond))
		pod.Containers = append(pod.Containers, metricsv1beta1.ContainerMetrics{Name: c.Container, Usage: used})
	}
	var complete []metricsv1beta1.PodMetrics
	for name, pod := range pods {
		if !incomplete[name] {
			complete = append(complete, *pod)
		}
	}
	return total, complete
}

func newPodMetrics(c *processnode.ContainerUse, at time.Time) *metricsv1beta1.PodMetrics {
	return &metricsv1beta1.PodMetrics{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Pod.Namespace, Name: c.Pod.Name, Labels: c.PodLabels, CreationTimestamp: metav1.NewTime(at)},
		Timestamp:  metav1.NewTime(at),
	}
}

// usedResources returns the average CPU use over a window, and the memory.
func usedResources(cpuTime, window time.Duration, memoryBytes int64) corev1.ResourceList {
	cores := max(0, cpuTime.Seconds()/window.Seconds())
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewScaledQuantity(int64(cores*1e9), resource.Nano),
		corev1.ResourceMemory: *resource.NewQuantity(memoryBytes, resource.BinarySI),
	}
}

// addResources adds more to the resources in total.
func addResources(total, more corev1.ResourceList) {
	for name, quantity := range more {
		sum := total[name]
		sum.Add(quantity)
		total[name] = sum
	}
}
