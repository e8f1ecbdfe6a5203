package explain

import (
	"time"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

const (
	// exactPositions is the last position that is reported exactly. A later position is updated only after it has
	// halved or doubled.
	exactPositions = 10
	// leastMove is the smallest change to an estimated start that is reported. For long waits, it is a tenth of the
	// wait.
	leastMove = 30 * time.Second
)

// KeepAccurate copies values from an older explanation with the same meaning to a fresh one if they are still
// accurate enough. This avoids writes. These values are late positions in the queue, estimated starts that have
// changed only slightly, and the number of attempts.
func KeepAccurate(fresh, old *schedulingv1beta1.Explanation, now time.Time) {
	fresh.Attempts, fresh.LastAttempt = old.Attempts, old.LastAttempt
	f, o := fresh.Queue, old.Queue
	inSameQueue := f != nil && o != nil && f.Name == o.Name
	if inSameQueue && o.Position > 0 {
		f.Position = keepPosition(f.Position, o.Position)
		f.Waiting = keepPosition(f.Waiting, o.Waiting)
	}
	if f, o := fresh.EstimatedStart, old.EstimatedStart; f != nil && o != nil && o.After(now) {
		move, wait := f.Sub(o.Time).Abs(), o.Sub(now)
		if move <= max(leastMove, wait/10) {
			fresh.EstimatedStart = o
		}
	}
}

// keepPosition returns the old position if the fresh one is late and has neither halved nor doubled since the old one.
// Otherwise, it returns the fresh one.
func keepPosition(fresh, old int32) int32 {
	isClose := fresh > old/2 && fresh <= 2*old
	if fresh > exactPositions && isClose {
		return old
	}
	return fresh
}

// HasGainedEstimate reports whether a fresh explanation contains an estimated start or helps, and the old one does
// not.
func HasGainedEstimate(fresh, old *schedulingv1beta1.Explanation) bool {
	hasGainedStart := fresh.EstimatedStart != nil && old.EstimatedStart == nil
	hasGainedHelps := len(fresh.Helps) > 0 && len(old.Helps) == 0
	return hasGainedStart || hasGainedHelps
}

// HaveSamePods reports whether two explanations state the same numbers of existing pods and of pods with a node. Unlike
// other numbers, they change only with the gang's own pods.
func HaveSamePods(a, b *schedulingv1beta1.Explanation) bool {
	if a.Members == nil || b.Members == nil {
		return a.Members == b.Members
	}
	return a.Members.Exist == b.Members.Exist && a.Members.Running == b.Members.Running
}
