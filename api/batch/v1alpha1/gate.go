package v1alpha1

import (
	"fmt"
	"slices"
	"time"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
)

// AtGate reports whether a job is held or waits for its begin time or for other jobs, and has never run. Nothing has
// been created from the spec of such a job yet.
func AtGate(job *Job) bool {
	return job.Status.State.Phase == Pending && reason.Get(reason.Code(job.Status.State.Reason)).Has(reason.CreatesNothing) &&
		!slices.ContainsFunc(job.Status.Conditions, func(c JobCondition) bool { return c.Status == Running })
}

// BeginOf returns the earliest start time of a job, or the zero time if none exists.
func BeginOf(job *Job) (time.Time, error) {
	text := job.Annotations[keys.Begin]
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not a valid time: use a format such as 2026-11-21T22:18:00Z, or 2026-11-21T22:18:00+01:00 with an offset", text)
	}
	return at, nil
}

// Gated reports whether a job has an annotation that delays its start.
func Gated(job *Job) bool {
	return slices.ContainsFunc([]string{keys.Hold, keys.Begin, keys.Dependency}, func(key string) bool { return job.Annotations[key] != "" })
}
