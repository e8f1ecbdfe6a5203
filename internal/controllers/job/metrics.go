package job

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

var (
	completedJobs = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "volcano_job_completed_phase_count", Help: "Number of times a job entered the phase Completed.",
	}, []string{"job_name", "queue_name"})
	failedJobs = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "volcano_job_failed_phase_count", Help: "Number of times a job entered the phase Failed.",
	}, []string{"job_name", "queue_name"})
	creationLatency = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "volcano_controller_job_to_pod_creation_latency_milliseconds", Help: "Time from the creation of a job to the creation of each of its pods.",
		Buckets: prometheus.ExponentialBucketsRange(50, 60000, 30),
	})
	registerMetrics = sync.OnceFunc(func() { metrics.Registry.MustRegister(completedJobs, failedJobs, creationLatency) })
)

func countPhaseEntry(job *batchv1alpha1.Job, phase batchv1alpha1.JobPhase) {
	name := job.Namespace + "/" + job.Name
	switch phase {
	case batchv1alpha1.Completed:
		completedJobs.WithLabelValues(name, job.Spec.Queue).Inc()
	case batchv1alpha1.Failed:
		failedJobs.WithLabelValues(name, job.Spec.Queue).Inc()
	}
}

// deleteJobMetrics removes the time series of a deleted job.
func deleteJobMetrics(namespace, name string) {
	labels := prometheus.Labels{"job_name": namespace + "/" + name}
	completedJobs.DeletePartialMatch(labels)
	failedJobs.DeletePartialMatch(labels)
}
