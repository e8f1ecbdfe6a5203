package queue

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/vc-batch/vc/internal/metrics"
)

var queueMetrics metrics.Set

// byPhase holds the gauges of PodGroups. There is one gauge per phase, because Volcano's dashboards use one name per
// phase.
var byPhase = newPhaseGauges("inqueue", "pending", "running", "unknown", "completed")

func newPhaseGauges(phases ...string) map[string]*prometheus.GaugeVec {
	gauges := map[string]*prometheus.GaugeVec{}
	for _, phase := range phases {
		gauges[phase] = queueMetrics.NewGaugeVec("volcano_queue_pod_group_"+phase+"_count",
			"Number of PodGroups of a queue in the phase "+phase+".", "queue_name")
	}
	return gauges
}

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
