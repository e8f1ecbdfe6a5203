// Package governor tells the writers of one process whether the API server is
// under pressure, so that what only informs gives way to what others wait for.
//
//	In:   how long each write took
//	Out:  whether a remark may be written now, or when
//
// A remark is a write that nobody acts upon: that a gang runs, the counts of a
// job. Under pressure one write in Share is a remark, and one in Share is a remark that
// was promised its time: none starves for good, and
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
	// Slower is how many times its quickest answers the average one of an API server
	// has to take for remarks to give way: requests stand in line then.
	Slower = 4
	// Quick is an average below which nothing is pressure.
	Quick = 10 * time.Millisecond
	// Share: under pressure one write in so many is a remark.
	Share = 32
	// slowest and quickest bound how often remarks leave under pressure.
	slowest  = 100 * time.Millisecond
	quickest = time.Millisecond
	// memory is how many writes the averages are of.
	memory = 64
	// forget is the time in which a quickest answer grows by as much as it is, so
	// that a server that has become slower for good is not under pressure for ever.
	forget = 10 * time.Minute
	// stale is how long a silence lasts after which the averages mean nothing.
	stale = time.Second
)

// Governor knows how the API server answers. The zero value is ready, and a nil
// one knows nothing and is never in the way.
type Governor struct {
	mu      sync.Mutex
	latency time.Duration // average of the last writes
	floor   time.Duration // the quickest answers
	gap     time.Duration // average time between two of them
	last    time.Time
	next    time.Time // when the next remark may leave under pressure
	booked  time.Time // the same for those that reserve their place
}

// Answered takes note of a write and how long the API server took for it.
func (g *Governor) Answered(now time.Time, took time.Duration) {
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
	return g.latency > max(Slower*g.floor, Quick) && now.Sub(g.last) < stale
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
	g.next = g.after(g.next, now)
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
	wait = max(g.booked.Sub(now), 0)
	if wait > longest {
		return longest
	}
	g.booked = g.after(g.booked, now)
	return wait
}

// after is the place after one: the time of Share writes later.
func (g *Governor) after(place, now time.Time) time.Time {
	if place.Before(now) {
		place = now
	}
	return place.Add(min(max(g.gap*Share, quickest), slowest))
}
