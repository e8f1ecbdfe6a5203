package jobflow

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
)

// The metrics have the same names as in Volcano.
var (
	succeededFlows = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "volcano_jobflow_succeed_phase_count", Help: "Number of times a JobFlow in the namespace entered the phase Succeed.",
	}, []string{"jobflow_namespace"})
	failedFlows = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "volcano_jobflow_failed_phase_count", Help: "Number of times a JobFlow in the namespace entered the phase Failed.",
	}, []string{"jobflow_namespace"})
	registerMetrics = sync.OnceFunc(func() { metrics.Registry.MustRegister(succeededFlows, failedFlows) })
)

// countPhaseEntry increments the counter of a phase if the flow has just entered the phase.
func countPhaseEntry(f *flowv1alpha1.JobFlow, phase flowv1alpha1.Phase) {
	switch {
	case phase == f.Status.State.Phase:
	case phase == flowv1alpha1.Succeed:
		succeededFlows.WithLabelValues(f.Namespace).Inc()
	case phase == flowv1alpha1.Failed:
		failedFlows.WithLabelValues(f.Namespace).Inc()
	}
}
