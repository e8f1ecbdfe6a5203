package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// DefaultTimeLimit gives a job without a time limit the default of its queue. The job's other defaults are set. old is
// the previous version of an updated job, or nil for a new job. longest is the longest run time that the job's account
// permits its user, or 0 for no limit. It limits the default, and it is the default if the queue has none.
//
// A pod template without a limit gets the default, or the job's estimate if that is longer. If no template has a limit,
// the limit also becomes the estimate, as with sbatch. A later version of the job that omits its limits keeps them,
// because a user may apply the original manifest again; it gets the queue's default only if it changes the queue.
func DefaultTimeLimit(old, job *Job, queues QueueLookup, longest time.Duration) {
	limits := schedulingv1beta1.EffectiveJobLimitsOf(job.Spec.Queue, queues)
	usual, most := shorterLimit(limits.DefaultRunTime.Value, longest), shorterLimit(limits.MaxRunTime.Value, longest)
	if usual == 0 {
		return
	}
	if old != nil {
		keepTimeLimit(old, job)
		if queueName(old) == queueName(job) {
			return
		}
	}
	limit := usual
	if estimate := job.Spec.RunningEstimate; estimate != nil && estimate.Duration > limit {
		limit = shorterLimit(estimate.Duration, most) // validation rejects an estimate above the maximum
	}
	setMissingTimeLimits(job, limit)
}

// shorterLimit returns the shorter one of two limits; 0 means no limit.
func shorterLimit(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// setMissingTimeLimits sets the limit of the pod templates that have none.
func setMissingTimeLimits(job *Job, limit time.Duration) {
	seconds := min(max(int64(limit/time.Second), 1), schedulingv1beta1.MaxDeadlineSeconds)
	missing := 0
	for i := range job.Spec.Tasks {
		if pod := &job.Spec.Tasks[i].Template.Spec; pod.ActiveDeadlineSeconds == nil {
			pod.ActiveDeadlineSeconds = new(seconds)
			missing++
		}
	}
	if job.Spec.RunningEstimate == nil && missing == len(job.Spec.Tasks) {
		job.Spec.RunningEstimate = &metav1.Duration{Duration: time.Duration(seconds) * time.Second}
	}
}

// keepTimeLimit copies the time limits and the estimate that an updated job omits from its previous version.
func keepTimeLimit(old, job *Job) {
	if len(old.Spec.Tasks) != len(job.Spec.Tasks) {
		return // validation rejects the update
	}
	longest := time.Duration(0)
	for i := range job.Spec.Tasks {
		before, after := &old.Spec.Tasks[i].Template.Spec, &job.Spec.Tasks[i].Template.Spec
		if after.ActiveDeadlineSeconds == nil && before.ActiveDeadlineSeconds != nil {
			after.ActiveDeadlineSeconds = new(*before.ActiveDeadlineSeconds)
		}
		if limit := after.ActiveDeadlineSeconds; limit != nil {
			longest = max(longest, time.Duration(*limit)*time.Second)
		}
	}
	if job.Spec.RunningEstimate == nil && old.Spec.RunningEstimate != nil {
		estimate := old.Spec.RunningEstimate.Duration
		if longest > 0 {
			estimate = min(estimate, longest)
		}
		job.Spec.RunningEstimate = &metav1.Duration{Duration: estimate}
	}
}
