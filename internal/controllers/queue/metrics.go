package queue

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	// byPhase holds the gauges of PodGroups. There is one gauge per phase, because Volcano's dashboards use one name
	// per phase.
	byPhase = map[string]*prometheus.GaugeVec{}

	registerMetrics = sync.OnceFunc(func() {
		for _, phase := range []string{"inqueue", "pending", "running", "unknown", "completed"} {
			byPhase[phase] = prometheus.NewGaugeVec(prometheus.GaugeOpts{
				Name: "volcano_queue_pod_group_" + phase + "_count", Help: "Number of PodGroups of a queue in the phase " + phase + ".",
			}, []string{"queue_name"})
			metrics.Registry.MustRegister(byPhase[phase])
		}
	})
)

func exportMetrics(queue string, c counts) {
	for phase, n := range map[string]int32{
		"inqueue": c.inqueue, "pending": c.pending, "running": c.running, "unknown": c.unknown, "completed": c.completed,
	} {
		byPhase[phase].WithLabelValues(queue).Set(float64(n))
	}
}

func deleteQueueMetrics(queue string) {
	for _, gauge := range byPhase {
		gauge.DeleteLabelValues(queue)
	}
}
