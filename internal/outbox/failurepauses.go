package outbox

import (
	"sync"
	"time"

	"github.com/vc-batch/vc/internal/model"
)

// failurePauses decides how long to wait before a failed write is reported. The scheduler decides again after the report. The
// first conflict usually means that the scheduler's state is slightly outdated, so a new decision is needed soon. If failures
// of the same object continue, they have another cause, such as a watch that is far behind, a webhook, or a namespace that is
// being deleted. Without longer pauses, the scheduler would repeat its decision in a tight loop.
//
// A failurePauses is safe for concurrent use.
type failurePauses struct {
	mu   sync.Mutex
	last map[model.Delta]failurePause // the last pause for each reported delta, whose error is cleared
	// lastCleanup is when outdated pauses were last removed.
	lastCleanup time.Time
}

type failurePause struct {
	pause time.Duration
	until time.Time // when the failure is reported
}

const (
	// firstConflictPause is the pause after the first conflict, or the first write to an object that no longer exists.
	firstConflictPause = 20 * time.Millisecond
	// firstFailurePause is the pause after the first failure of another kind. The same decision would only fail again.
	firstFailurePause = time.Second
	// pauseResetDelay is the time without a failure after which the pause starts again at its minimum.
	pauseResetDelay = 10 * time.Second
	// cleanupInterval is the time between two removals of outdated pauses. Each takes time in proportion to all pauses, of
	// which there may be many after the jobs of many pods were deleted.
	cleanupInterval = 5 * time.Second
)

// nextPause returns the pause before a failure is reported. key is the reported delta without its error; it must be comparable.
// The pause is at least first, and doubles with each failure of the same object, up to longPause.
func (f *failurePauses) nextPause(key model.Delta, first time.Duration, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil {
		f.last = map[model.Delta]failurePause{}
	}
	if now.Sub(f.lastCleanup) >= cleanupInterval {
		f.removeOutdated(now)
		f.lastCleanup = now
	}
	pause := first
	if p, ok := f.last[key]; ok && !p.isOutdated(now) {
		pause = max(first, min(2*p.pause, longPause))
	}
	f.last[key] = failurePause{pause: pause, until: now.Add(pause)}
	return pause
}

func (f *failurePauses) removeOutdated(now time.Time) {
	for key, p := range f.last {
		if p.isOutdated(now) {
			delete(f.last, key)
		}
	}
}

// withoutError returns a delta without its error, which differs from one failure of a write to the next.
func withoutError(delta model.Delta) model.Delta {
	switch d := delta.(type) {
	case model.BindFailed:
		d.Err = ""
		return d
	case model.EvictFailed:
		d.Err = ""
		return d
	}
	return delta
}

func (p failurePause) isOutdated(now time.Time) bool { return now.Sub(p.until) > pauseResetDelay }
