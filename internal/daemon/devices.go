package daemon

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// Volcano's gauges for shared cards.
var (
	cardShared    = newCardGauge("shared_number", "Containers that share a card")
	cardMemory    = newCardGauge("allocated_memory", "Memory of a card that is given away, in MiB")
	cardCores     = newCardGauge("allocated_cores", "Part of a card's cores that is given away, in percent")
	cardLimit     = newCardGauge("memory_limit", "Memory of a card, in MiB")
	cardPodMemory = newCardGauge("memory_allocation_for_a_certain_pod", "Memory of a card that a pod has, in MiB", "podName")
	cardPodCores  = newCardGauge("core_allocation_for_a_certain_pod", "Part of a card's cores that a pod has, in percent", "podName")
)

func newCardGauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return registry.NewGaugeVec(prometheus.GaugeOpts{
		Name: "volcano_vgpu_device_" + name, Help: help + ".",
	}, append([]string{"devID", "NodeName"}, labels...))
}

// observeDevices replaces the series of the nodes whose cards have changed.
func observeDevices(nodes []decision.NodeDevices) {
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
			for _, p := range c.Pods {
				cardPodMemory.WithLabelValues(c.Card, n.Node, p.Pod.Key()).Add(float64(p.MemoryMiB))
				cardPodCores.WithLabelValues(c.Card, n.Node, p.Pod.Key()).Add(float64(p.Cores))
			}
		}
	}
}
