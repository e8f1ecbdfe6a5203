// Package backpressure applies back-pressure to the writes of one process. While the API server is under pressure,
// purely informational writes are delayed in favor of writes that other components or users are waiting for.
//
//	In:   the duration of each write
//	Out:  whether an informational write may be sent now, or when
//
// No component acts on an informational write, such as the condition that a gang is running or the counters of a job.
// Under pressure, one of Share writes is an informational write without a reservation, and another one is an
// informational write with a reserved slot. Therefore, none of them is delayed forever. While such a write is waiting,
// newer states of its object replace it.
//
// # Concurrency
//
// A Throttle is safe for concurrent use.
package backpressure

import (
	"sync"
	"time"
)

const (
	// Slower is the ratio of average to minimum response time above which the API server counts as being under
	// pressure, because such a ratio means that requests are waiting in its queues.
	Slower = 4
	// Quick is the average response time below which there is never pressure.
	Quick = 10 * time.Millisecond
	// Share is the number of writes of which one is informational while the API server is under pressure.
	Share = 32
	// slowest and quickest limit the interval between informational writes under pressure.
	slowest  = 100 * time.Millisecond
	quickest = time.Millisecond
	// averaged is the number of writes in the averages.
	averaged = 64
	// forget is the time within which the recorded minimum response time doubles, so that a server that has become
	// permanently slower does not count as being under pressure forever.
	forget = 10 * time.Minute
	// stale is the time without a write after which the averages are reset.
	stale = time.Second
)

// Throttle measures how fast the API server responds. The zero value is ready to use; a nil Throttle never delays a
// write.
type Throttle struct {
	mu      sync.Mutex
	latency time.Duration // average of the last writes
	floor   time.Duration // minimum response time
	gap     time.Duration // average time between two writes
	last    time.Time
	next    time.Time // when the next informational write may be sent under pressure
	booked  time.Time // the next slot that can be reserved
}

// RecordWrite records a write and its response time.
func (t *Throttle) RecordWrite(now time.Time, took time.Duration) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	gap := max(now.Sub(t.last), 0)
	if !t.last.IsZero() {
		t.floor += time.Duration(float64(t.floor) * min(gap.Seconds()/forget.Seconds(), 1))
	}
	if gap < stale {
		t.gap += (gap - t.gap) / averaged
	} else {
		t.latency, t.gap = took, slowest/Share
	}
	if t.floor == 0 || took < t.floor {
		t.floor = took
	}
	t.latency += (took - t.latency) / averaged
	t.last = now
}

// IsUnderPressure reports whether the API server is under pressure.
func (t *Throttle) IsUnderPressure(now time.Time) bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.hasSlowResponses(now)
}

func (t *Throttle) hasSlowResponses(now time.Time) bool {
	return t.latency > max(Slower*t.floor, Quick) && now.Sub(t.last) < stale
}

// RequestSlot requests the next slot for an informational write. If it returns 0, the write may be sent now; otherwise,
// the caller should call it again after that time.
func (t *Throttle) RequestSlot(now time.Time) (wait time.Duration) {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.hasSlowResponses(now) {
		return 0
	}
	if wait := t.next.Sub(now); wait > 0 {
		return wait
	}
	t.next = t.slotFollowing(t.next, now)
	return 0
}

// ReserveSlot reserves the next slot for an informational write and returns the time until that slot. If this time
// exceeds longest, it reserves nothing and returns longest.
func (t *Throttle) ReserveSlot(now time.Time, longest time.Duration) (wait time.Duration) {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.hasSlowResponses(now) {
		return 0
	}
	wait = max(t.booked.Sub(now), 0)
	if wait > longest {
		return longest
	}
	t.booked = t.slotFollowing(t.booked, now)
	return wait
}

// slotFollowing returns the slot that follows place. If place has passed, it returns the slot that follows now. The
// distance between two slots is the average time for Share writes, between quickest and slowest.
func (t *Throttle) slotFollowing(place, now time.Time) time.Time {
	if place.Before(now) {
		place = now
	}
	return place.Add(min(max(t.gap*Share, quickest), slowest))
}
