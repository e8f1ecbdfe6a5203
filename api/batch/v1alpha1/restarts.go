package v1alpha1

import "cmp"

// PolicyRestarts returns how often policies restarted the job, and how often they may. Status.RetryCount also counts the
// failure after which a job may not restart, and spec.maxRetry is the number of runs. Restarts by a user do not count.
func (j *Job) PolicyRestarts() (restarts, limit int32) {
	limit = max(cmp.Or(j.Spec.MaxRetry, DefaultMaxRetry), 1) - 1
	return min(j.Status.RetryCount, limit), limit
}
