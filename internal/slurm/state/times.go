package state

import (
	"slices"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
)

// Times holds the times of a job or of an array element. Unknown times are zero.
type Times struct {
	Submit, Eligible, Start, End time.Time
	// Released is when the job was suspended and released its nodes, unless it was resumed since. A resumed job starts
	// again, so its times describe the attempt after the suspension.
	Released time.Time
	// SuspendedBefore is for how long the job was suspended before it was resumed and this attempt began.
	SuspendedBefore time.Duration
}

// TimesOf returns the times of a job.
func TimesOf(f Facts) Times {
	job := f.Job
	t := Times{Submit: job.CreationTimestamp.Time, Eligible: job.CreationTimestamp.Time}
	if begin, err := batchv1alpha1.BeginOf(job); err == nil && begin.After(t.Submit) {
		t.Eligible = begin
	}
	t.SuspendedBefore = suspendedBefore(job)
	switch phase := phaseOf(job); phase {
	case batchv1alpha1.Pending, batchv1alpha1.Restarting:
		return t
	case batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated:
		t.End = job.Status.State.LastTransitionTime.Time
	}
	if isSuspendedSinceItRan(job) {
		t.Released = phaseStart(job, batchv1alpha1.Aborted)
	}
	if !hasRestartedSinceItRan(job) {
		t.Start = phaseStart(job, batchv1alpha1.Running)
	}
	if t.Start.IsZero() && f.Pods != nil {
		t.Start = f.Pods.Begin
	}
	return t
}

// hasRestartedSinceItRan reports whether a job was restarted after it entered the phase Running for the last time. A job
// that failed because of maxRetry was not: it enters the phase Restarting, but is not restarted. The conditions are in the
// order in which the job last entered the phases.
func hasRestartedSinceItRan(job *batchv1alpha1.Job) bool {
	_, limit := job.PolicyRestarts()
	exceedsLimit := job.Status.State.Phase == batchv1alpha1.Failed && job.Status.RetryCount > limit
	if exceedsLimit {
		return false
	}
	return phasePosition(job, batchv1alpha1.Restarting) > phasePosition(job, batchv1alpha1.Running)
}

// isSuspendedSinceItRan reports whether a job was suspended after it entered the phase Running for the last time, and was
// not resumed. It may have been cancelled since.
func isSuspendedSinceItRan(job *batchv1alpha1.Job) bool {
	if job.Status.State.Phase == batchv1alpha1.Aborted {
		return true
	}
	at := phasePosition(job, batchv1alpha1.Aborted)
	return at > phasePosition(job, batchv1alpha1.Running) && at > phasePosition(job, batchv1alpha1.Restarting)
}

// suspendedBefore returns for how long a job was suspended between the attempt before the current one and its resumption.
func suspendedBefore(job *batchv1alpha1.Job) time.Duration {
	n := len(job.Status.Attempts)
	if n == 0 {
		return 0
	}
	last, resumed := &job.Status.Attempts[n-1], phaseStart(job, batchv1alpha1.Restarting)
	wasSuspended := last.Phase == batchv1alpha1.Aborted && last.Number+1 == job.Attempt()
	if !wasSuspended || resumed.IsZero() {
		return 0
	}
	return max(0, resumed.Sub(last.EndTime.Time))
}

// phasePosition returns the position of a phase in the order in which the job last entered the phases, or -1.
func phasePosition(job *batchv1alpha1.Job, phase batchv1alpha1.JobPhase) int {
	return slices.IndexFunc(job.Status.Conditions, func(c batchv1alpha1.JobCondition) bool { return c.Status == phase })
}

// phaseStart returns the time when a job last entered a phase.
func phaseStart(job *batchv1alpha1.Job, phase batchv1alpha1.JobPhase) time.Time {
	for _, c := range job.Status.Conditions {
		if c.Status == phase && c.LastTransitionTime != nil {
			return c.LastTransitionTime.Time
		}
	}
	if job.Status.State.Phase == phase {
		return job.Status.State.LastTransitionTime.Time
	}
	return time.Time{}
}

// ElapsedTime returns how long the job or element has been running, or how long it ran. The time for which it was suspended
// does not count.
func (t Times) ElapsedTime(now time.Time) time.Duration {
	if t.Start.IsZero() {
		return 0
	}
	until := t.endOrNow(now)
	if !t.Released.IsZero() && t.Released.Before(until) {
		until = t.Released
	}
	return max(0, until.Sub(t.Start)).Truncate(time.Second)
}

// SuspendedTime returns how long the job was suspended: before this attempt, and since it ran.
func (t Times) SuspendedTime(now time.Time) time.Duration {
	suspended := t.SuspendedBefore
	if !t.Released.IsZero() {
		suspended += max(0, t.endOrNow(now).Sub(t.Released))
	}
	return suspended.Truncate(time.Second)
}

func (t Times) endOrNow(now time.Time) time.Time {
	if t.End.IsZero() {
		return now
	}
	return t.End
}

// TimeLimit returns the time limit of a job, which is the shortest limit of its tasks' pods. It returns 0 if there is
// no limit. In queues with a default time limit, the largest deadline stands for no limit.
func TimeLimit(job *batchv1alpha1.Job) time.Duration {
	var least time.Duration
	for i := range job.Spec.Tasks {
		s := job.Spec.Tasks[i].Template.Spec.ActiveDeadlineSeconds
		if s == nil || *s <= 0 || *s >= schedulingv1beta1.MaxDeadlineSeconds {
			continue
		}
		if d := time.Duration(*s) * time.Second; least == 0 || d < least {
			least = d
		}
	}
	return least
}

// CountRestarts returns how often the job has been restarted, by policies and by users.
func CountRestarts(job *batchv1alpha1.Job) int { return int(job.Attempt()) }

// Unlimited is the text that is printed for a job without a time limit.
const Unlimited = "UNLIMITED"

// ShortClock formats a duration as squeue does: [D-][HH:]MM:SS without leading zeros. Examples are 0:07, 1:02:03 and
// 2-00:00:00.
func ShortClock(d time.Duration) string {
	return timeformat.ShortDuration(d)
}

// LongClock formats a duration as sacct does: [D-]HH:MM:SS.
func LongClock(d time.Duration) string {
	return timeformat.LongDuration(d)
}

// LimitClock formats a time limit as squeue does.
func LimitClock(limit time.Duration) string {
	if limit == 0 {
		return Unlimited
	}
	return ShortClock(limit)
}

// LeftClock formats the time that remains until a time limit as squeue does.
func LeftClock(limit, used time.Duration) string {
	switch {
	case limit == 0:
		return Unlimited
	case used > limit:
		return "INVALID"
	}
	return ShortClock(limit - used)
}
