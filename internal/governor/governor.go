// Package governor tells the writers of one process whether the API server is
// under pressure, so that what only informs gives way to what others wait for.
//
//	In:   how long each write took
//	Out:  whether a remark may be written now, or when
//
// A remark is a write that nobody acts upon: that a gang runs, the counts of a
// job. Under pressure one write in Share is a remark: none starves for good, and
// while one waits, newer states of its object take its place.
//
// # Concurrency
//
// A Governor may be used by any goroutine.
package governor

import (
	"sync"
	"time"
)

const (
	// Pressure is the average answer of the API server from which on remarks give
	// way. One that has nothing else to do answers in 2 to 10 ms.
	Pressure = 40 * time.Millisecond
	// Share: under pressure one write in so many is a remark.
	Share = 8
	// slowest and quickest bound how often remarks leave under pressure.
	slowest  = 100 * time.Millisecond
	quickest = time.Millisecond
	// memory is how many writes the averages are of.
	memory = 64
	// stale is how long a silence lasts after which the averages mean nothing.
	stale = time.Second
)

// Governor knows how the API server answers. The zero value is ready, and a nil
// one knows nothing and is never in the way.
type Governor struct {
	mu      sync.Mutex
	latency time.Duration // average of the last writes
	gap     time.Duration // average time between two of them
	last    time.Time
	next    time.Time // when the next remark may leave under pressure
}

// Answered takes note of a write and how long the API server took for it.
func (g *Governor) Answered(now time.Time, took time.Duration) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if gap := now.Sub(g.last); gap < stale {
		g.gap += (max(gap, 0) - g.gap) / memory
	} else {
		g.latency, g.gap = 0, slowest/Share
	}
	g.latency += (took - g.latency) / memory
	g.last = now
}

// Pressed reports whether the API server is under pressure.
func (g *Governor) Pressed(now time.Time) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pressed(now)
}

func (g *Governor) pressed(now time.Time) bool {
	return g.latency > Pressure && now.Sub(g.last) < stale
}

// Remark asks for the next place for a remark. A wait of 0 says that it may be
// written now, and its place is taken; otherwise ask again after that time.
func (g *Governor) Remark(now time.Time) (wait time.Duration) {
	if g == nil {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.pressed(now) {
		return 0
	}
	if wait := g.next.Sub(now); wait > 0 {
		return wait
	}
	g.take(now)
	return 0
}

// Reserve takes the next place for a remark, however far off, up to longest.
func (g *Governor) Reserve(now time.Time, longest time.Duration) (wait time.Duration) {
	if g == nil {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.pressed(now) {
		return 0
	}
	wait = max(g.next.Sub(now), 0)
	if wait > longest {
		return longest
	}
	g.take(now)
	return wait
}

// take moves the next place on by the time of Share writes.
func (g *Governor) take(now time.Time) {
	if g.next.Before(now) {
		g.next = now
	}
	g.next = g.next.Add(min(max(g.gap*Share, quickest), slowest))
}
