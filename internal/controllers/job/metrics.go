package job

import (
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/metrics"
)

var jobMetrics metrics.Set

var (
	completedJobs = jobMetrics.NewCounterVec("volcano_job_completed_phase_count",
		"Number of times a job entered the phase Completed.", "job_name", "queue_name")
	failedJobs = jobMetrics.NewCounterVec("volcano_job_failed_phase_count",
		"Number of times a job entered the phase Failed.", "job_name", "queue_name")
	creationLatency = jobMetrics.NewHistogram("volcano_controller_job_to_pod_creation_latency_milliseconds",
		"Time from the creation of a job to the creation of each of its pods.", prometheus.ExponentialBucketsRange(50, 60000, 30))
	endedJobs = jobMetrics.NewCounterVec("vc_jobs_ended_total",
		"Number of times jobs ended, by queue and by phase: Completed, Failed, Terminated or Aborted.", "queue_name", "phase")
)

// endPhases are the phases that vc_jobs_ended_total counts.
var endPhases = []batchv1alpha1.JobPhase{batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated, batchv1alpha1.Aborted}

func (r *Reconciler) countPhaseEntry(job *batchv1alpha1.Job, phase batchv1alpha1.JobPhase) {
	if slices.Contains(endPhases, phase) {
		endedJobs.WithLabelValues(job.Spec.Queue, string(phase)).Inc()
	}
	r.series.countPhaseEntry(job, phase)
}

// DeleteQueueMetrics removes the time series of a deleted queue.
func DeleteQueueMetrics(queue string) {
	for _, phase := range endPhases {
		endedJobs.DeleteLabelValues(queue, string(phase))
	}
}

// jobSeries maintains the series of individual jobs. A nil jobSeries creates none. It is safe for concurrent use.
type jobSeries struct {
	mu sync.Mutex
	// queuesOf maps each job with series to the queues in their labels, because a deletion by the job's name alone
	// would look at every series.
	queuesOf map[types.NamespacedName][]string
}

func newJobSeries() *jobSeries { return &jobSeries{queuesOf: map[types.NamespacedName][]string{}} }

// countPhaseEntry counts that a job entered a phase.
func (s *jobSeries) countPhaseEntry(job *batchv1alpha1.Job, phase batchv1alpha1.JobPhase) {
	counter := map[batchv1alpha1.JobPhase]*prometheus.CounterVec{batchv1alpha1.Completed: completedJobs, batchv1alpha1.Failed: failedJobs}[phase]
	if s == nil || counter == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := client.ObjectKeyFromObject(job)
	if !slices.Contains(s.queuesOf[key], job.Spec.Queue) {
		s.queuesOf[key] = append(s.queuesOf[key], job.Spec.Queue)
	}
	counter.WithLabelValues(key.String(), job.Spec.Queue).Inc()
}

// deleteSeries removes the series of a deleted job.
func (s *jobSeries) deleteSeries(job types.NamespacedName) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, queue := range s.queuesOf[job] {
		completedJobs.DeleteLabelValues(job.String(), queue)
		failedJobs.DeleteLabelValues(job.String(), queue)
	}
	delete(s.queuesOf, job)
}
