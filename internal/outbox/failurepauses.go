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
	// swept is when outdated pauses were last removed.
	swept time.Time
}

type failurePause struct {
	pause time.Duration
	until time.Time // when the failure is reported
}

const (
	// firstConflictPause is the pause after the first conflict.
	firstConflictPause = 20 * time.Millisecond
	// firstPauseAfterRefusal is the pause after the first failure of another kind. The same decision would only fail again.
	firstPauseAfterRefusal = time.Second
	// failureMemory is the time without a failure after which the pause starts again at its minimum.
	failureMemory = 10 * time.Second
	// sweepInterval is the time between two removals of outdated pauses. Each takes time in proportion to all pauses, of
	// which there may be many after the jobs of many pods were deleted.
	sweepInterval = 5 * time.Second
)

// next returns the pause after a failure that is reported with a delta. It is at least first, and doubles with each failure
// of the same object, up to longPause. The delta must be comparable and contain no error.
func (f *failurePauses) next(key model.Delta, first time.Duration, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil {
		f.last = map[model.Delta]failurePause{}
	}
	if now.Sub(f.swept) >= sweepInterval {
		f.removeOutdated(now)
		f.swept = now
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

func (p failurePause) isOutdated(now time.Time) bool { return now.Sub(p.until) > failureMemory }
