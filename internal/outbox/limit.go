package outbox

import "time"

// limiter decides how many writes may be in flight. It uses additive increase and multiplicative decrease. The limit
// grows while responses are fast, and shrinks when the server returns 429, does not respond, or becomes slow.
type limiter struct {
	limit     float64
	low, high float64
	latency   time.Duration // moving average over successful writes
	calmUntil time.Time     // no decrease before this time, because a burst of 429 responses counts as one signal
}

const (
	startWrites = 32
	// slowAnswer is the average latency above which more writes in flight would only make all of them slower.
	slowAnswer = 400 * time.Millisecond
	calmPeriod = 250 * time.Millisecond
)

func newLimiter(low, high int) *limiter {
	return &limiter{limit: min(startWrites, float64(high)), low: float64(low), high: float64(high)}
}

// allowedWrites returns the number of writes that may be in flight now. It is at least one.
func (l *limiter) allowedWrites() int { return max(1, int(l.limit)) }

// recordAnswer records a write that the server carried out, or rejected because of the write's content.
func (l *limiter) recordAnswer(now time.Time, took time.Duration) {
	l.latency += (took - l.latency) / 16
	if l.latency > slowAnswer {
		l.backOff(now)
		return
	}
	l.limit = min(l.high, l.limit+1/l.limit)
}

// recordOverload records a write for which the server had no capacity.
func (l *limiter) recordOverload(now time.Time) { l.backOff(now) }

func (l *limiter) backOff(now time.Time) {
	if now.Before(l.calmUntil) {
		return
	}
	l.calmUntil = now.Add(calmPeriod)
	l.limit = max(l.low, l.limit*0.7)
}
