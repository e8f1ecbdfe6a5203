package demo

import (
	"hash/fnv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/snapshot"
)

// idleJobs lists the numbers of the jobs that have GPUs but do not use them, with the time since the last use.
var idleJobs = map[string]time.Duration{"911": 2*time.Hour + 10*time.Minute}

// Usage returns the made-up use of the nodes and the running pods. A pod uses some of the CPU and memory that it
// requests; most pods use their GPUs almost completely.
func Usage(objects []runtime.Object) *snapshot.Usage {
	usage := &snapshot.Usage{HasCore: true, HasGPU: true, Nodes: map[string]snapshot.Measured{}, Pods: map[snapshot.PodKey]snapshot.Measured{}}
	for _, object := range objects {
		switch o := object.(type) {
		case *corev1.Node:
			kubelet := snapshot.Measured{Core: &snapshot.MeasuredCore{MilliCPU: 150, MemoryBytes: 1 << 30}}
			usage.Nodes[o.Name] = usage.Nodes[o.Name].Add(kubelet)
		case *corev1.Pod:
			if o.Status.Phase != corev1.PodRunning {
				continue
			}
			used := usageOfPod(o)
			usage.Pods[snapshot.KeyOfPod(o.Namespace, o.Name)] = used
			usage.Nodes[o.Spec.NodeName] = usage.Nodes[o.Spec.NodeName].Add(used)
		}
	}
	return usage
}

func usageOfPod(pod *corev1.Pod) snapshot.Measured {
	requested := podRequests(&pod.Spec)
	share := int64(35 + hashOfName(pod.Name)%60) // in percent
	if _, isIdle := idleJobs[pod.Labels[keys.JobID]]; isIdle {
		share = 1
	}
	used := snapshot.Measured{Core: &snapshot.MeasuredCore{
		MilliCPU: requested.Cpu().MilliValue() * share / 100, MemoryBytes: requested.Memory().Value() * max(share, 20) / 100,
	}}
	gpus := requested[GPU]
	if gpus.IsZero() {
		return used
	}
	used.GPU = &snapshot.MeasuredGPU{Count: int(gpus.Value()), Percent: float64(80 + hashOfName(pod.Name)%20), MemoryBytes: gpus.Value() * 61 << 30, LastBusy: Now}
	if idle, isIdle := idleJobs[pod.Labels[keys.JobID]]; isIdle {
		used.GPU.Percent, used.GPU.LastBusy = 0, Now.Add(-idle)
	}
	return used
}

func hashOfName(name string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return h.Sum32()
}
