package daemon

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// Volcano's gauges for shared cards. The last two have series for individual pods, and only if the administrator asks
// for metrics per job.
var (
	cardShared    = newCardGauge("shared_number", "Number of containers that share a card")
	cardMemory    = newCardGauge("allocated_memory", "Allocated memory of a card, in MiB")
	cardCores     = newCardGauge("allocated_cores", "Allocated cores of a card, in percent")
	cardLimit     = newCardGauge("memory_limit", "Memory of a card, in MiB")
	cardPodMemory = newCardGauge("memory_allocation_for_a_certain_pod", "Device memory allocated to a pod, in MiB", "podName")
	cardPodCores  = newCardGauge("core_allocation_for_a_certain_pod", "Cores of a card that are allocated to a pod, in percent", "podName")
)

func newCardGauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return schedulerMetrics.NewGaugeVec("volcano_vgpu_device_"+name, help+".", append([]string{"devID", "NodeName"}, labels...)...)
}

// observeDevices replaces the series of the nodes whose cards have changed. perPod adds the series of individual pods.
func observeDevices(nodes []decision.NodeDevices, perPod bool) {
	for i := range nodes {
		n := &nodes[i]
		for _, g := range []*prometheus.GaugeVec{cardShared, cardMemory, cardCores, cardLimit, cardPodMemory, cardPodCores} {
			g.DeletePartialMatch(prometheus.Labels{"NodeName": n.Node})
		}
		for _, c := range n.Cards {
			cardShared.WithLabelValues(c.Card, n.Node).Set(float64(c.Shared))
			cardMemory.WithLabelValues(c.Card, n.Node).Set(float64(c.MemoryMiB))
			cardCores.WithLabelValues(c.Card, n.Node).Set(float64(c.Cores))
			cardLimit.WithLabelValues(c.Card, n.Node).Set(float64(c.MemoryLimitMiB))
			if !perPod {
				continue
			}
			for _, p := range c.Pods {
				cardPodMemory.WithLabelValues(c.Card, n.Node, p.Pod.Key()).Add(float64(p.MemoryMiB))
				cardPodCores.WithLabelValues(c.Card, n.Node, p.Pod.Key()).Add(float64(p.Cores))
			}
		}
	}
}
