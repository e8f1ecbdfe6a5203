package sim

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// checkNewCronJobRun checks, for a new job of a CronJob, that no other job was ever created for the same time, and that
// jobs run at the same time only if the CronJob permits it.
func (c *checks) checkNewCronJobRun(job *batchv1alpha1.Job) {
	owner := metav1.GetControllerOf(job)
	if owner == nil || owner.Kind != cronJobKind.Kind {
		return
	}
	cron := c.world.cronJob(owner)
	if cron == nil {
		return
	}
	due := string(owner.UID) + " " + job.Annotations[keys.CronJobScheduled]
	if earlier, exists := c.cronRuns[due]; exists {
		c.world.fail("CronJob %s creates job %s for %s, but it has created %s for this time", cron.Name, job.Name, job.Annotations[keys.CronJobScheduled], earlier)
	}
	c.cronRuns[due] = job.Name
	for _, other := range c.world.state.jobs {
		isEarlierRun := metav1.IsControlledBy(other, cron) && other.UID != job.UID
		isActive := other.DeletionTimestamp == nil && !slices.Contains(finalPhases, other.Status.State.Phase)
		if isEarlierRun && isActive && cron.Spec.ConcurrencyPolicy != batchv1alpha1.AllowConcurrent {
			c.world.fail("CronJob %s with policy %s creates job %s while job %s is %s", cron.Name, cron.Spec.ConcurrencyPolicy, job.Name, other.Name, other.Status.State.Phase)
		}
	}
}

// cronJob returns the CronJob to which an owner reference refers, or nil.
func (w *World) cronJob(owner *metav1.OwnerReference) *batchv1alpha1.CronJob {
	for _, o := range w.objectsAt(cronJobKind, len(w.changes[cronJobKind])) {
		if o.GetUID() == owner.UID {
			return o.(*batchv1alpha1.CronJob)
		}
	}
	return nil
}

// checkCronJobs checks, at rest, that every CronJob keeps at most as many ended jobs as it should, and that its status
// lists exactly the jobs that have not ended.
func (w *World) checkCronJobs() {
	for _, o := range w.objectsAt(cronJobKind, len(w.changes[cronJobKind])) {
		cron := o.(*batchv1alpha1.CronJob)
		completed, failed, active := int32(0), int32(0), 0
		for _, job := range w.state.jobs {
			switch phase := job.Status.State.Phase; {
			case !metav1.IsControlledBy(job, cron):
			case phase == batchv1alpha1.Completed:
				completed++
			case slices.Contains(finalPhases, phase):
				failed++
			default:
				active++
			}
		}
		if completed > *cron.Spec.SuccessfulJobsHistoryLimit || failed > *cron.Spec.FailedJobsHistoryLimit {
			w.fail("CronJob %s keeps %d completed and %d failed jobs, but its limits are %d and %d", cron.Name, completed, failed,
				*cron.Spec.SuccessfulJobsHistoryLimit, *cron.Spec.FailedJobsHistoryLimit)
		}
		if listed := len(cron.Status.Active); listed != active {
			w.fail("CronJob %s: the status lists %d active jobs, but there are %d", cron.Name, listed, active)
		}
	}
}
