package v1alpha1

import (
	"fmt"
	"time"

	"github.com/vc-batch/vc/api/keys"
)

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
