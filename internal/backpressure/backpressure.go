// Package backpressure applies back-pressure to the writes of one process. While the API server is under pressure,
// purely informational writes are delayed in favor of writes that other components or users are waiting for.
//
//	In:   the duration of each write
//	Out:  whether a remark may be written now, or when
//
// A remark is a write that no component acts on, such as the condition that a gang is running or the counters of a job.
// Under pressure, one write in Share is a remark without a reservation, and one write in Share is a remark that
// reserved its time. Therefore, no remark is delayed forever. While a remark is waiting, newer states of its object
// replace it.
//
// # Concurrency
//
// A Governor is safe for concurrent use.
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
	// Share is the number of writes that contain one remark while the API server is under pressure.
	Share = 32
	// slowest and quickest limit the interval between remarks under pressure.
	slowest  = 100 * time.Millisecond
	quickest = time.Millisecond
	// memory is the number of writes in the averages.
	memory = 64
	// forget is the time within which the recorded minimum response time doubles, so that a server that has become
	// permanently slower does not count as being under pressure forever.
	forget = 10 * time.Minute
	// stale is the time without a write after which the averages are reset.
	stale = time.Second
)

// Governor measures how fast the API server responds. The zero value is ready to use; a nil Governor never delays a
// write.
type Governor struct {
	mu      sync.Mutex
	latency time.Duration // average of the last writes
	floor   time.Duration // minimum response time
	gap     time.Duration // average time between two writes
	last    time.Time
	next    time.Time // when the next remark may be written under pressure
	booked  time.Time // earliest time of the next rate-limited log message
}

// RecordWrite records a write and its response time.
func (g *Governor) RecordWrite(now time.Time, took time.Duration) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	gap := max(now.Sub(g.last), 0)
	if !g.last.IsZero() {
		g.floor += time.Duration(float64(g.floor) * min(gap.Seconds()/forget.Seconds(), 1))
	}
	if gap < stale {
		g.gap += (gap - g.gap) / memory
	} else {
		g.latency, g.gap = took, slowest/Share
	}
	if g.floor == 0 || took < g.floor {
		g.floor = took
	}
	g.latency += (took - g.latency) / memory
	g.last = now
}

// IsUnderPressure reports whether the API server is under pressure.
func (g *Governor) IsUnderPressure(now time.Time) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hasSlowResponses(now)
}

func (g *Governor) hasSlowResponses(now time.Time) bool {
	return g.latency > max(Slower*g.floor, Quick) && now.Sub(g.last) < stale
}

// RequestSlot requests the next slot for a remark. If it returns 0, the remark may be written now; otherwise, the
// caller should call it again after that time.
func (g *Governor) RequestSlot(now time.Time) (wait time.Duration) {
	if g == nil {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.hasSlowResponses(now) {
		return 0
	}
	if wait := g.next.Sub(now); wait > 0 {
		return wait
	}
	g.next = g.slotFollowing(g.next, now)
	return 0
}

// ReserveSlot reserves the next slot for a remark and returns the time until that slot. If this time exceeds longest,
// it reserves nothing and returns longest.
func (g *Governor) ReserveSlot(now time.Time, longest time.Duration) (wait time.Duration) {
	if g == nil {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.hasSlowResponses(now) {
		return 0
	}
	wait = max(g.booked.Sub(now), 0)
	if wait > longest {
		return longest
	}
	g.booked = g.slotFollowing(g.booked, now)
	return wait
}

// slotFollowing returns the slot that follows place. If place has passed, it returns the slot that follows now. The
// distance between two slots is the average time for Share writes, between quickest and slowest.
func (g *Governor) slotFollowing(place, now time.Time) time.Time {
	if place.Before(now) {
		place = now
	}
	return place.Add(min(max(g.gap*Share, quickest), slowest))
}
