package cronjob

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// Event reasons. Volcano uses the same names.
const (
	invalidSchedule    = "UnparseableSchedule"
	zoneInSchedule     = "UnsupportedSchedule"
	invalidTimeZone    = "InvalidTimeZone"
	tooManyMissed      = "TooManyMissedTimes"
	missedStart        = "MissSchedule"
	forbidConcurrent   = "ForbidConcurrent"
	replaceConcurrent  = "ReplaceConcurrent"
	sawCompletedJob    = "SawCompletedJob"
	successfulCreate   = "SuccessfulCreate"
	failedCreate       = "FailedCreate"
	successfulDelete   = "SuccessfulDelete"
	failedDelete       = "FailedDelete"
	foreignJob         = "ForeignJob"
	namespaceGoingAway = "NamespaceTerminating"
)

const (
	// manyMissed is the number of missed times above which a warning is recorded.
	manyMissed = 100
	// lateness is how long after a scheduled time the reconcile runs, to make sure that the clock has passed that
	// time.
	lateness = 100 * time.Millisecond
	// widest limits how far back to search for the last time of a schedule. Leap days may be eight years apart.
	widest = 9 * 366 * 24 * time.Hour
)

// Input holds everything that a plan depends on. Compute does not change it.
type Input struct {
	CronJob *batchv1alpha1.CronJob
	// Jobs holds the jobs whose controller is this CronJob, matched by UID.
	Jobs []*batchv1alpha1.Job
	Now  time.Time
}

// Plan holds the writes and events, and the time of the next reconcile.
type Plan struct {
	// Noticed is a status to write before any deletion, because the status may depend on a job that is about to be
	// deleted. It is nil if this is not necessary.
	Noticed *batchv1alpha1.CronJobStatus
	// Delete is carried out before Create, because with concurrencyPolicy Replace, the old job is deleted first.
	Delete []*batchv1alpha1.Job
	// Create is the job that is due, or nil.
	Create *batchv1alpha1.Job
	// Status is the status to write after that; nil if it does not change.
	Status *batchv1alpha1.CronJobStatus
	Events []Event
	// RequeueAfter is the delay after which to reconcile again if nothing changes before then; 0 means never.
	RequeueAfter time.Duration
}

// Event is an event to record on the CronJob.
type Event struct{ Type, Reason, Message string }

func (p *Plan) appendEvent(kind, reason, format string, args ...any) {
	p.Events = append(p.Events, Event{kind, reason, fmt.Sprintf(format, args...)})
}

// Compute returns the plan for a CronJob.
func Compute(in Input) Plan {
	var p Plan
	c := in.CronJob
	if c.DeletionTimestamp != nil {
		return p // the garbage collector deletes the CronJob's jobs
	}
	status := c.Status.DeepCopy()
	jobs := slices.SortedFunc(slices.Values(in.Jobs), func(a, b *batchv1alpha1.Job) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	p.updateStatus(c, status, jobs)
	p.pruneHistory(c, jobs)
	noticed := status.DeepCopy()
	p.createDueJob(c, status, jobs, in.Now)
	if len(p.Delete) > 0 && !noticed.LastScheduleTime.Equal(c.Status.LastScheduleTime) {
		p.Noticed = noticed
	}
	slices.SortFunc(status.Active, func(a, b corev1.ObjectReference) int { return cmp.Compare(a.Name, b.Name) })
	if !equality.Semantic.DeepEqual(*status, c.Status) {
		p.Status = status
	}
	return p
}

// IsEndedPhase reports whether a job in this phase has ended and will not run again.
func IsEndedPhase(phase batchv1alpha1.JobPhase) bool {
	return phase == batchv1alpha1.Completed || phase == batchv1alpha1.Failed || phase == batchv1alpha1.Terminated
}

// updateStatus updates the status from the existing jobs.
func (p *Plan) updateStatus(c *batchv1alpha1.CronJob, status *batchv1alpha1.CronJobStatus, jobs []*batchv1alpha1.Job) {
	was := map[string]bool{}
	for _, a := range c.Status.Active {
		was[string(a.UID)] = true
	}
	status.Active = nil
	for _, j := range jobs {
		phase := j.Status.State.Phase
		switch {
		case !IsEndedPhase(phase):
			status.Active = append(status.Active, referenceTo(j))
		case was[string(j.UID)]:
			p.appendEvent(corev1.EventTypeNormal, sawCompletedJob, "Saw completed job: %s, status: %s", j.Name, phase)
		}
		if at := j.Status.State.LastTransitionTime; phase == batchv1alpha1.Completed && isLater(&at, status.LastSuccessfulTime) {
			status.LastSuccessfulTime = &at
		}
		if at := (metav1.Time{Time: scheduledTime(j)}); isLater(&at, status.LastScheduleTime) {
			status.LastScheduleTime = &at
		}
	}
}

// isLater reports whether a time is known, and later than the recorded time, if any.
func isLater(at, recorded *metav1.Time) bool {
	return !at.IsZero() && (recorded == nil || recorded.Before(at))
}

func referenceTo(j *batchv1alpha1.Job) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Namespace: j.Namespace, Name: j.Name, UID: j.UID, ResourceVersion: "",
	}
}

// scheduledTime returns the scheduled time for which a job was created, or zero if the job's annotation is missing or
// invalid.
func scheduledTime(j *batchv1alpha1.Job) time.Time {
	at, err := time.Parse(time.RFC3339, j.Annotations[keys.CronJobScheduled])
	if err != nil {
		return time.Time{}
	}
	return at.Local()
}

// pruneHistory deletes the oldest ended jobs that exceed the history limits.
func (p *Plan) pruneHistory(c *batchv1alpha1.CronJob, jobs []*batchv1alpha1.Job) {
	prune := func(limit *int32, fallback int, of func(batchv1alpha1.JobPhase) bool) {
		keep := fallback
		if limit != nil {
			keep = int(*limit)
		}
		ended := slices.DeleteFunc(slices.Clone(jobs), func(j *batchv1alpha1.Job) bool {
			return !of(j.Status.State.Phase) || j.DeletionTimestamp != nil
		})
		p.Delete = append(p.Delete, ended[:max(0, len(ended)-keep)]...)
	}
	prune(c.Spec.SuccessfulJobsHistoryLimit, 3, func(phase batchv1alpha1.JobPhase) bool { return phase == batchv1alpha1.Completed })
	prune(c.Spec.FailedJobsHistoryLimit, 1, func(phase batchv1alpha1.JobPhase) bool {
		return phase == batchv1alpha1.Failed || phase == batchv1alpha1.Terminated
	})
}

// createDueJob creates the job that is due, if any.
func (p *Plan) createDueJob(c *batchv1alpha1.CronJob, status *batchv1alpha1.CronJobStatus, jobs []*batchv1alpha1.Job, now time.Time) {
	if c.Spec.Suspend != nil && *c.Spec.Suspend {
		return
	}
	schedule, err := batchv1alpha1.ParseSchedule(c.Spec.Schedule)
	if err != nil {
		p.appendEvent(corev1.EventTypeWarning, invalidSchedule, "%s: %v; correct spec.schedule", c.Spec.Schedule, err)
		return
	}
	if batchv1alpha1.NamesZone(c.Spec.Schedule) {
		p.appendEvent(corev1.EventTypeWarning, zoneInSchedule, "%s: the time zone in the schedule still applies, but new CronJobs must use spec.timeZone instead", c.Spec.Schedule)
	}
	zone := time.Local
	if c.Spec.TimeZone != nil {
		if zone, err = time.LoadLocation(*c.Spec.TimeZone); err != nil {
			p.appendEvent(corev1.EventTypeWarning, invalidTimeZone, "%s: %v; correct spec.timeZone", *c.Spec.TimeZone, err)
			return
		}
	}
	now = now.In(zone)
	if next := schedule.Next(now); !next.IsZero() {
		p.RequeueAfter = next.Sub(now) + lateness
	}
	since := c.CreationTimestamp.Time
	if status.LastScheduleTime != nil {
		since = status.LastScheduleTime.Time
	}
	due, missed := lastScheduledTime(schedule, since.In(zone), now)
	if due.IsZero() {
		return
	}
	if limit := c.Spec.StartingDeadlineSeconds; limit != nil {
		deadline := time.Duration(min(*limit, int64(widest/time.Second))) * time.Second
		if now.Sub(due) > deadline {
			p.appendEvent(corev1.EventTypeWarning, missedStart, "Missed scheduled time to start a job: %s", due.Format(time.RFC3339))
			return
		}
		if from := now.Add(-deadline); from.After(since) {
			_, missed = lastScheduledTime(schedule, from, now) // do not count times before the deadline
		}
	}
	if missed > manyMissed {
		p.appendEvent(corev1.EventTypeWarning, tooManyMissed, "too many missed start times (more than %d); only the job for the latest time, %s, is started", manyMissed, due.Format(time.RFC3339))
	}
	name := scheduledJobName(c, due)
	if slices.ContainsFunc(jobs, func(j *batchv1alpha1.Job) bool { return j.Name == name }) {
		// the same minute occurs twice because the clock was set back
		status.LastScheduleTime = &metav1.Time{Time: due.Local()}
		return
	}
	if len(status.Active) > 0 && !p.applyConcurrencyPolicy(c, status, jobs, due) {
		return
	}
	p.Create = newJob(c, name, due)
	status.LastScheduleTime = &metav1.Time{Time: due.Local()}
}

// applyConcurrencyPolicy applies the concurrencyPolicy to the jobs that are still running, and reports whether the new
// job may start.
func (p *Plan) applyConcurrencyPolicy(c *batchv1alpha1.CronJob, status *batchv1alpha1.CronJobStatus, jobs []*batchv1alpha1.Job, due time.Time) bool {
	switch c.Spec.ConcurrencyPolicy {
	case batchv1alpha1.ForbidConcurrent:
		p.appendEvent(corev1.EventTypeNormal, forbidConcurrent, "Job %s is still running and concurrencyPolicy is Forbid: the job scheduled for %s waits until the running job ends", status.Active[0].Name, due.Format(time.RFC3339))
		return false
	case batchv1alpha1.ReplaceConcurrent:
		for _, j := range jobs {
			if !IsEndedPhase(j.Status.State.Phase) && j.DeletionTimestamp == nil {
				p.appendEvent(corev1.EventTypeNormal, replaceConcurrent, "Job %s is replaced by the job scheduled for %s", j.Name, due.Format(time.RFC3339))
				p.Delete = append(p.Delete, j)
			}
		}
		status.Active = nil
	}
	return true
}

// lastScheduledTime returns the latest time of a schedule that is after since and not after now, or zero if none
// exists. It also returns the number of such times, counted up to manyMissed+1.
func lastScheduledTime(schedule interface{ Next(time.Time) time.Time }, since, now time.Time) (last time.Time, count int) {
	for at := schedule.Next(since); !at.IsZero() && !at.After(now); at = schedule.Next(at) {
		last = at
		if count++; count > manyMissed {
			break
		}
	}
	if count <= manyMissed {
		return last, count
	}
	// There are many such times, so find an interval ending now that contains only a few of them.
	for back := time.Minute; back < widest; back *= 2 {
		from := now.Add(-back)
		if at := schedule.Next(from); !at.IsZero() && !at.After(now) {
			for ; !at.IsZero() && !at.After(now); at = schedule.Next(at) {
				last = at
			}
			break
		}
	}
	return last, count
}

func scheduledJobName(c *batchv1alpha1.CronJob, at time.Time) string {
	return c.Name + "-" + strconv.FormatInt(at.Unix()/60, 10)
}

func newJob(c *batchv1alpha1.CronJob, name string, at time.Time) *batchv1alpha1.Job {
	job := c.JobOf()
	job.Name = name
	job.Annotations = maps.Clone(job.Annotations)
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	job.Annotations[keys.CronJobScheduled] = at.Format(time.RFC3339)
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(c, batchv1alpha1.GroupVersion.WithKind("CronJob"))}
	return job
}
