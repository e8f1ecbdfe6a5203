package v1alpha1

import (
	"fmt"
	"slices"
	"time"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
)

// closedGate are the reasons of jobs that have no PodGroup yet.
var closedGate = []reason.Code{reason.JobHeldUser, reason.JobHeldAdmin, reason.BeginTime, reason.Dependency, reason.DependencyNeverSatisfied}

// AtGate says whether a job stands before its gate and has never run: nothing has been made from its spec yet.
func AtGate(job *Job) bool {
	return job.Status.State.Phase == Pending && slices.Contains(closedGate, reason.Code(job.Status.State.Reason)) &&
		!slices.ContainsFunc(job.Status.Conditions, func(c JobCondition) bool { return c.Status == Running })
}

// BeginOf is the earliest time at which a job may start; the zero time when it names none.
func BeginOf(job *Job) (time.Time, error) {
	text := job.Annotations[keys.Begin]
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not a time: write it as 2026-11-21T22:18:00Z or with an offset as 2026-11-21T22:18:00+01:00", text)
	}
	return at, nil
}

// Gated says whether anything is asked for that holds a job back before it starts.
func Gated(job *Job) bool {
	for _, key := range []string{keys.Hold, keys.Begin, keys.Dependency} {
		if job.Annotations[key] != "" {
			return true
		}
	}
	return false
}
