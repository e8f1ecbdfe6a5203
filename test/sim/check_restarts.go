package sim

import (
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// checkRestarts checks that every restart is counted, and that a job does not start again after its last permitted
// restart.
func (c *checks) checkRestarts(old, job *batchv1alpha1.Job) {
	before, after := &old.Status, &job.Status
	restarts := func(s *batchv1alpha1.JobStatus) int32 { return s.RetryCount + s.UserRestarts }
	if before.State.Phase != batchv1alpha1.Restarting && after.State.Phase == batchv1alpha1.Restarting && restarts(after) <= restarts(before) {
		c.world.fail("job %s restarts, but its counters stay %d and %d", job.Name, after.RetryCount, after.UserRestarts)
	}
	isResumed := before.State.Reason == string(busv1alpha1.ResumeJobAction)
	starts := before.State.Phase == batchv1alpha1.Restarting && after.State.Phase == batchv1alpha1.Pending
	if starts && !isResumed && after.RetryCount >= job.Spec.MaxRetry {
		c.world.fail("job %s starts again after %d restarts, but its maxRetry is %d", job.Name, after.RetryCount, job.Spec.MaxRetry)
	}
}

// checkEnd checks that a job whose pods are being stopped ends only when its status counts no more of them.
func (c *checks) checkEnd(old, job *batchv1alpha1.Job) {
	before, after := old.Status.State.Phase, &job.Status
	isStopping := before == batchv1alpha1.Completing || before == batchv1alpha1.Terminating || before == batchv1alpha1.Aborting
	hasEnded := isStopping && isSettledPhase(after.State.Phase) // an Aborting job may also be resumed
	if live := after.Pending + after.Running + after.Unknown + after.Terminating; hasEnded && live > 0 {
		c.world.fail("job %s is %s, but its status counts %d pods that have not ended", job.Name, after.State.Phase, live)
	}
}
