package cronjob

import (
	"time"

	"github.com/robfig/cron/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/render"
)

func timeOrZero(at *metav1.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.Time
}

func timeAgoText(at *metav1.Time, now time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return render.FormatAgeSince(now, at.Time)
}

// nextScheduleTime returns the next time in the schedule, or the reason why none exists.
func nextScheduleTime(c cronJob, now time.Time) (next time.Time, why string) {
	if isSuspended(c) {
		return time.Time{}, "it is suspended"
	}
	return nextTimeAfter(c, now, now)
}

// nextTimeAfter returns the first scheduled time after moment, given the current time. The controller counts the
// intervals of @every from the last scheduled time or, before the first one, from the creation time.
func nextTimeAfter(c cronJob, now, moment time.Time) (next time.Time, why string) {
	schedule, err := batchv1alpha1.ParseSchedule(c.Spec.Schedule)
	if err != nil {
		return time.Time{}, err.Error()
	}
	zone, err := scheduleZone(c, now)
	if err != nil {
		return time.Time{}, err.Error()
	}
	if every, ok := schedule.(cron.ConstantDelaySchedule); ok {
		since := c.CreationTimestamp.Time
		if last := timeOrZero(c.Status.LastScheduleTime); !last.IsZero() {
			since = last
		}
		passed := max(0, moment.Sub(since))
		return since.Add(passed - passed%every.Delay + every.Delay).In(zone), ""
	}
	if next = schedule.Next(moment.In(zone)); next.IsZero() {
		return next, "the schedule never matches a date"
	}
	return next, ""
}

// scheduleZone returns the time zone of a schedule. A schedule without a time zone uses the controller's, which vcctl
// cannot read. If the last scheduled time matches the schedule in this machine's time zone but not in UTC, scheduleZone
// assumes this machine's time zone; otherwise, it assumes UTC.
func scheduleZone(c cronJob, now time.Time) (*time.Location, error) {
	if c.Spec.TimeZone != nil {
		return time.LoadLocation(*c.Spec.TimeZone)
	}
	last := timeOrZero(c.Status.LastScheduleTime)
	if !last.IsZero() && !isInSchedule(c, last, time.UTC) && isInSchedule(c, last, now.Location()) {
		return now.Location(), nil
	}
	return time.UTC, nil
}

// isInSchedule reports whether moment is a time in the schedule, interpreted in a time zone.
func isInSchedule(c cronJob, moment time.Time, zone *time.Location) bool {
	schedule, err := batchv1alpha1.ParseSchedule(c.Spec.Schedule)
	return err == nil && schedule.Next(moment.In(zone).Add(-time.Second)).Equal(moment)
}

func nextTimeText(c cronJob, now time.Time) string {
	next, why := nextScheduleTime(c, now)
	if why != "" {
		return "-"
	}
	return render.FormatAgeSince(next, now)
}

func zoneText(c cronJob) string {
	if c.Spec.TimeZone == nil {
		return "-"
	}
	return *c.Spec.TimeZone
}

func zoneFactText(c cronJob, now time.Time) string {
	if c.Spec.TimeZone != nil {
		return *c.Spec.TimeZone
	}
	zone, err := scheduleZone(c, now)
	if err != nil {
		return ""
	}
	return "the controller's time zone, assumed to be " + zone.String()
}
