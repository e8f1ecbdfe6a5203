package v1alpha1

import "cmp"

// PolicyRestarts returns how many times policies have restarted the job, and how many times they may. This differs
// from status.retryCount, which also counts the failure after which the job may not be restarted, and from
// spec.maxRetry, which is the number of runs. Restarts by users do not count.
func (j *Job) PolicyRestarts() (restarts, limit int32) {
	limit = max(cmp.Or(j.Spec.MaxRetry, DefaultMaxRetry), 1) - 1
	return min(j.Status.RetryCount, limit), limit
}

// Attempt returns the number of the current attempt to run the job: how often policies and users have restarted it.
func (j *Job) Attempt() int32 {
	restarts, _ := j.PolicyRestarts()
	return restarts + j.Status.UserRestarts
}
