package sim

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	if cron == nil || c.lateCreates[describeObject(jobKind, job.Namespace, job.Name)] {
		return // a create that arrives late may repeat a run that was deleted meanwhile
	}
	due := string(owner.UID) + " " + job.Annotations[keys.CronJobScheduled]
	if earlier, exists := c.cronRuns[due]; exists {
		c.world.fail("CronJob %s creates job %s for %s, but it has created %s for this time", cron.Name, job.Name, job.Annotations[keys.CronJobScheduled], earlier)
	}
	c.cronRuns[due] = job.Name
	if at, err := time.Parse(time.RFC3339, job.Annotations[keys.CronJobScheduled]); err == nil && at.After(c.lastRuns[owner.UID]) {
		c.lastRuns[owner.UID] = at
	}
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

// cronTime is how long CronJobs continue to create jobs after the last action. Some of these runs are free of faults.
const cronTime = repairTime + 3*time.Minute

// mostLateRun is how long after a scheduled time a CronJob may create the job. Retries of controllers are shorter.
const mostLateRun = 45 * time.Second

// checkDueRuns checks, after faults have stopped and programs have recovered, that each CronJob creates the job for the latest
// scheduled time within mostLateRun.
func (w *World) checkDueRuns() {
	if w.now.Sub(epoch.Add(storyLength)) < repairTime {
		return
	}
	for _, o := range w.objectsAt(cronJobKind, len(w.changes[cronJobKind])) {
		cron := o.(*batchv1alpha1.CronJob)
		since, known := w.checks.owing[cron.UID]
		switch {
		case !w.owesRun(cron):
			delete(w.checks.owing, cron.UID)
		case !known:
			w.checks.owing[cron.UID] = w.now
		case w.now.Sub(since) > mostLateRun:
			w.fail("CronJob %s with the schedule %q has created no job since %s, although it could; the last scheduled time in its status is %s", cron.Name,
				cron.Spec.Schedule, formatTime(since.Sub(epoch)), cron.Status.LastScheduleTime)
		}
	}
}

// owesRun reports whether a CronJob could create a job for the latest scheduled time but has not created it. In scripts, every
// CronJob has a scheduled time each minute.
func (w *World) owesRun(cron *batchv1alpha1.CronJob) bool {
	due := w.now.Truncate(time.Minute)
	isOff := cron.DeletionTimestamp != nil || ptr.Deref(cron.Spec.Suspend, false)
	if isOff || !cron.CreationTimestamp.Time.Before(due) || !w.isOpen(cmp.Or(cron.Spec.JobTemplate.Spec.Queue, keys.DefaultQueue)) {
		return false
	}
	if limit := cron.Spec.StartingDeadlineSeconds; limit != nil && w.now.Sub(due) > time.Duration(*limit)*time.Second {
		return false
	}
	if cron.Spec.ConcurrencyPolicy == batchv1alpha1.ForbidConcurrent && w.hasActiveRun(cron) {
		return false
	}
	return w.checks.lastRuns[cron.UID].Before(due)
}

// hasActiveRun reports whether a job of a CronJob has not ended.
func (w *World) hasActiveRun(cron *batchv1alpha1.CronJob) bool {
	for _, job := range w.state.jobs {
		if metav1.IsControlledBy(job, cron) && !slices.Contains(finalPhases, job.Status.State.Phase) {
			return true
		}
	}
	return false
}

// hasActiveCronJob reports whether a CronJob may create jobs.
func (w *World) hasActiveCronJob() bool {
	return slices.ContainsFunc(w.objectsAt(cronJobKind, len(w.changes[cronJobKind])), func(o client.Object) bool {
		return !ptr.Deref(o.(*batchv1alpha1.CronJob).Spec.Suspend, false)
	})
}
