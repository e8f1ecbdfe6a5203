package outbox

import "time"

// limiter decides how many writes may be in flight. It probes upwards while
// answers come quickly and backs off when the server says so (429), does not
// answer, or grows slow: additive increase, multiplicative decrease.
type limiter struct {
	limit     float64
	low, high float64
	latency   time.Duration // moving average of successful writes
	calmUntil time.Time     // no second decrease before: one burst of 429 is one signal
}

const (
	startWrites = 32
	// slowAnswer is the average latency above which more writes in flight only
	// make everybody wait longer.
	slowAnswer = 400 * time.Millisecond
	calmPeriod = 250 * time.Millisecond
)

func newLimiter(low, high int) *limiter {
	return &limiter{limit: min(startWrites, float64(high)), low: float64(low), high: float64(high)}
}

// allowed is the number of writes that may be in flight now; at least one.
func (l *limiter) allowed() int { return max(1, int(l.limit)) }

// answered takes note of a write that the server carried out or refused for a
// reason of its content.
func (l *limiter) answered(now time.Time, took time.Duration) {
	l.latency += (took - l.latency) / 16
	if l.latency > slowAnswer {
		l.backOff(now)
		return
	}
	l.limit = min(l.high, l.limit+1/l.limit)
}

// overloaded takes note of a write that the server had no capacity for.
func (l *limiter) overloaded(now time.Time) { l.backOff(now) }

func (l *limiter) backOff(now time.Time) {
	if now.Before(l.calmUntil) {
		return
	}
	l.calmUntil = now.Add(calmPeriod)
	l.limit = max(l.low, l.limit*0.7)
}
