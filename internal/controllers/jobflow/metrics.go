package jobflow

import (
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/internal/metrics"
)

var flowMetrics metrics.Set

// The metrics have the same names as in Volcano.
var (
	succeededFlows = flowMetrics.NewCounterVec("volcano_jobflow_succeed_phase_count",
		"Number of times a JobFlow in the namespace entered the phase Succeed.", "jobflow_namespace")
	failedFlows = flowMetrics.NewCounterVec("volcano_jobflow_failed_phase_count",
		"Number of times a JobFlow in the namespace entered the phase Failed.", "jobflow_namespace")
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
