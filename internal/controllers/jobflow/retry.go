package jobflow

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// retryFailed removes the failed steps from the status and deletes their jobs. The removed steps then have no job and
// no recorded end, so they start when their dependencies are met. A job that fails after the time in the annotation is
// not retried, so the annotation may remain on the flow.
func (p *planner) retryFailed(status *flowv1alpha1.JobFlowStatus) {
	text := p.in.Flow.Annotations[keys.RetryFailed]
	if text == "" {
		return
	}
	until, err := time.Parse(time.RFC3339, text)
	if err != nil {
		p.appendEvent(corev1.EventTypeWarning, badRetry, "annotation %s is ignored: %q is not a time such as 2026-11-21T22:18:00Z; use `vcctl jobflow retry %s` to set it", keys.RetryFailed, text, p.in.Flow.Name)
		return
	}
	p.retried = until
	status.JobStatusList = slices.DeleteFunc(slices.Clone(status.JobStatusList), func(s flowv1alpha1.JobStatus) bool {
		again := p.failedBefore(s.State, s.EndTimestamp.Time)
		if again {
			p.appendEvent(corev1.EventTypeNormal, stepRetried, "job %s ended with state %s; its step runs again", s.Name, s.State)
		}
		return again
	})
	for i := range p.in.Flow.Spec.Flows {
		job := p.in.Jobs[flowv1alpha1.JobName(p.in.Flow, p.in.Flow.Spec.Flows[i].Name)]
		if job == nil || !p.willRunAgain(job) {
			continue
		}
		p.leaving[job.Name] = true
		if job.DeletionTimestamp == nil {
			p.Delete = append(p.Delete, job)
		}
	}
}

// willRunAgain reports whether the step of a job runs again, because the job failed before the retry.
func (p *planner) willRunAgain(job *batchv1alpha1.Job) bool {
	return p.failedBefore(job.Status.State.Phase, job.Status.State.LastTransitionTime.Time)
}

// failedBefore reports whether a job with this phase and end time failed before the time in the annotation.
func (p *planner) failedBefore(phase batchv1alpha1.JobPhase, end time.Time) bool {
	if p.retried.IsZero() || end.IsZero() {
		return false
	}
	isFailed := phase == batchv1alpha1.Failed || phase == batchv1alpha1.Terminated
	return isFailed && !end.After(p.retried)
}
