package explain

import (
	"time"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

const (
	// exactPositions are told exactly; further back only when they halved.
	exactPositions = 10
	// leastMove is how much an estimated start must move at least to be told anew, or a tenth of the wait.
	leastMove = 30 * time.Second
)

// Keep takes over into a fresh explanation what an older one of the same meaning
// still says well enough, so that nothing is written for it: places far back in
// the line, starts that moved a little, the number of attempts.
func Keep(fresh, old *schedulingv1beta1.Explanation, now time.Time) {
	fresh.Attempts, fresh.LastAttempt = old.Attempts, old.LastAttempt
	if f, o := fresh.Queue, old.Queue; f != nil && o != nil && f.Name == o.Name && o.Position > 0 {
		if f.Position > exactPositions && f.Position > o.Position/2 && f.Position <= 2*o.Position {
			f.Position = o.Position
		}
		if f.Waiting > exactPositions && f.Waiting > o.Waiting/2 && f.Waiting <= 2*o.Waiting {
			f.Waiting = o.Waiting
		}
	}
	if f, o := fresh.EstimatedStart, old.EstimatedStart; f != nil && o != nil && o.After(now) {
		move, wait := f.Sub(o.Time).Abs(), o.Sub(now)
		if move <= max(leastMove, wait/10) {
			fresh.EstimatedStart = o
		}
	}
}

// Gained says whether a fresh explanation answers what the old one left open.
func Gained(fresh, old *schedulingv1beta1.Explanation) bool {
	return fresh.EstimatedStart != nil && old.EstimatedStart == nil || len(fresh.Helps) > 0 && len(old.Helps) == 0
}
