package v1alpha1

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxCronJobName is the maximum length of a CronJob's name. It leaves space for the time in the names of its jobs.
const maxCronJobName = validation.DNS1123LabelMaxLength - 11

// zonePart matches a part of the name of a time zone.
var zonePart = regexp.MustCompile(`^[A-Za-z.\-_0-9+]{1,14}$`)

// ParseSchedule parses the schedule of a CronJob.
func ParseSchedule(text string) (schedule cron.Schedule, err error) {
	defer func() { // the parser panics on a time zone without a schedule
		if why := recover(); why != nil {
			schedule, err = nil, fmt.Errorf("schedule is not a valid cron expression: %v", why)
		}
	}()
	if schedule, err = cron.ParseStandard(text); err != nil {
		return nil, fmt.Errorf("schedule is not a valid cron expression: %w", err)
	}
	return schedule, nil
}

// NamesZone reports whether a schedule contains a time zone, which the parser accepts but admission rejects.
func NamesZone(schedule string) bool { return strings.Contains(schedule, "TZ") }

// ValidateCronJob returns the validation errors of a new or updated CronJob, except for those in its template.
func ValidateCronJob(c *CronJob) field.ErrorList {
	var errs field.ErrorList
	if len(c.Name) > maxCronJobName {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), c.Name,
			fmt.Sprintf("must be no more than %d characters, because the names of the jobs consist of this name and the start time", maxCronJobName)))
	}
	spec := field.NewPath("spec")
	errs = append(errs, validateSchedule(c.Spec.Schedule, spec.Child("schedule"))...)
	errs = append(errs, validateTimeZone(c.Spec.TimeZone, spec.Child("timeZone"))...)
	if seconds := c.Spec.StartingDeadlineSeconds; seconds != nil && *seconds < 0 {
		errs = append(errs, field.Invalid(spec.Child("startingDeadlineSeconds"), *seconds, "must be greater than or equal to 0"))
	}
	for _, one := range []struct {
		name  string
		limit *int32
	}{{"successfulJobsHistoryLimit", c.Spec.SuccessfulJobsHistoryLimit}, {"failedJobsHistoryLimit", c.Spec.FailedJobsHistoryLimit}} {
		if one.limit != nil && *one.limit < 0 {
			errs = append(errs, field.Invalid(spec.Child(one.name), *one.limit, "must be greater than or equal to 0"))
		}
	}
	switch policy := c.Spec.ConcurrencyPolicy; policy {
	case "", AllowConcurrent, ForbidConcurrent, ReplaceConcurrent:
	default:
		errs = append(errs, field.NotSupported(spec.Child("concurrencyPolicy"), policy, []ConcurrencyPolicy{AllowConcurrent, ForbidConcurrent, ReplaceConcurrent}))
	}
	return errs
}

// ValidateCronJobUpdate returns the validation errors of an updated CronJob, except for those in its template. It
// does not check a schedule or time zone that has not changed, so that a CronJob accepted by an older version can be
// suspended.
func ValidateCronJobUpdate(old, c *CronJob) field.ErrorList {
	schedule, zone := field.NewPath("spec", "schedule").String(), field.NewPath("spec", "timeZone").String()
	same := map[string]bool{schedule: old.Spec.Schedule == c.Spec.Schedule, zone: apiequality.Semantic.DeepEqual(old.Spec.TimeZone, c.Spec.TimeZone)}
	var errs field.ErrorList
	for _, err := range ValidateCronJob(c) {
		if !same[err.Field] {
			errs = append(errs, err)
		}
	}
	return errs
}

// JobOf returns a job of the CronJob. Its name does not contain the scheduled time.
func (c *CronJob) JobOf() *Job {
	template := c.Spec.JobTemplate.DeepCopy()
	job := &Job{Spec: template.Spec}
	job.Name, job.Namespace, job.Labels, job.Annotations = c.Name, c.Namespace, template.Labels, template.Annotations
	InheritUser(job, c)
	return job
}

func validateSchedule(text string, path *field.Path) field.ErrorList {
	switch {
	case text == "":
		return field.ErrorList{field.Required(path, "specify five fields: minute hour day-of-month month day-of-week, such as 30 2 * * 1-5")}
	case NamesZone(text):
		return field.ErrorList{field.Invalid(path, text, "schedule should not contain TZ or CRON_TZ, TZ should only be set in the timeZone field")}
	}
	schedule, err := ParseSchedule(text)
	if err != nil {
		return field.ErrorList{field.Invalid(path, text, err.Error())}
	}
	// Apart from the turn of some centuries, any period of eight years includes leap years and other years.
	first := schedule.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
	if first.IsZero() {
		return field.ErrorList{field.Invalid(path, text, "the schedule never starts a job, because the specified date does not exist")}
	}
	if every, ok := schedule.(cron.ConstantDelaySchedule); ok && every.Delay < time.Minute {
		return field.ErrorList{field.Invalid(path, text, "must not start jobs more often than once a minute, because the job names contain the start time in minutes")}
	}
	return nil
}

// isZonePart reports whether a text can be a part of a time zone's name. It must not lead to another directory.
func isZonePart(part string) bool {
	switch {
	case part == ".", part == "..", strings.HasPrefix(part, "-"):
		return false
	}
	return zonePart.MatchString(part)
}

func validateTimeZone(zone *string, path *field.Path) field.ErrorList {
	if zone == nil {
		return nil
	}
	if *zone == "" {
		return field.ErrorList{field.Invalid(path, "", "timeZone must be nil or non-empty string, got empty string")}
	}
	for part := range strings.SplitSeq(*zone, "/") {
		if !isZonePart(part) {
			return field.ErrorList{field.Invalid(path, *zone, "unknown timeZone: use a name from the tz database, such as Europe/Berlin")}
		}
	}
	if strings.EqualFold(*zone, "Local") {
		return field.ErrorList{field.Invalid(path, *zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")}
	}
	if _, err := time.LoadLocation(*zone); err != nil {
		return field.ErrorList{field.Invalid(path, *zone, "invalid timeZone: "+err.Error())}
	}
	return nil
}
