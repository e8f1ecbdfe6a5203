package outbox

import (
	"sync"
	"time"

	"github.com/vc-batch/vc/internal/model"
)

// conflictPauses decides how long to wait before a conflict is reported. The first conflict usually means that the
// scheduler's state is slightly outdated, so a new decision is needed soon. If conflicts continue, they have another cause,
// such as a watch that is far behind, or a webhook. Without longer pauses, the scheduler would repeat its decision in a
// tight loop.
//
// A conflictPauses is safe for concurrent use.
type conflictPauses struct {
	mu   sync.Mutex
	last map[model.Delta]conflictPause // the last pause for each reported delta, whose error is cleared
	// swept is when outdated pauses were last removed.
	swept time.Time
}

type conflictPause struct {
	pause time.Duration
	until time.Time // when the conflict is reported
}

const (
	firstConflictPause = 20 * time.Millisecond
	// conflictMemory is the time without a conflict after which the pause starts again at its minimum.
	conflictMemory = 10 * time.Second
	// sweepInterval is the time between two removals of outdated pauses. Each takes time in proportion to all pauses, of
	// which there may be many after the jobs of many pods were deleted.
	sweepInterval = 5 * time.Second
)

// next returns the pause after a conflict that is reported with a delta. It doubles with each conflict of the same object,
// up to longPause. The delta must be comparable and contain no error.
func (c *conflictPauses) next(key model.Delta, now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil {
		c.last = map[model.Delta]conflictPause{}
	}
	if now.Sub(c.swept) >= sweepInterval {
		c.removeOutdated(now)
		c.swept = now
	}
	pause := firstConflictPause
	if p, ok := c.last[key]; ok && !p.isOutdated(now) {
		pause = min(2*p.pause, longPause)
	}
	c.last[key] = conflictPause{pause: pause, until: now.Add(pause)}
	return pause
}

func (c *conflictPauses) removeOutdated(now time.Time) {
	for key, p := range c.last {
		if p.isOutdated(now) {
			delete(c.last, key)
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

func (p conflictPause) isOutdated(now time.Time) bool { return now.Sub(p.until) > conflictMemory }
