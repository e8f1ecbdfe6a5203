package jobstatus

import (
	"regexp"
	"time"

	"github.com/vc-batch/vc/internal/render"
)

// moments matches the times in messages from the controllers and the scheduler.
var moments = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)`)

// AddRelativeTimes adds to each time in a text how far the time is from now, for example "2026-01-01T12:00:00Z (in
// 5m)".
func AddRelativeTimes(text string, now time.Time) string {
	return moments.ReplaceAllStringFunc(text, func(found string) string {
		at, err := time.Parse(time.RFC3339, found)
		switch {
		case err != nil:
			return found
		case at.After(now):
			return found + " (in " + render.FormatDuration(at.Sub(now)) + ")"
		}
		return found + " (" + render.FormatAgeSince(now, at) + " ago)"
	})
}
