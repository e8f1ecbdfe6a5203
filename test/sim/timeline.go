package sim

import (
	"container/heap"
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// event is an action at a virtual time.
type event struct {
	at    time.Time
	order uint64 // events with the same time run in the order in which they were added
	owner *process
	run   func()
}

// timeline holds the virtual time and the future events.
type timeline struct {
	now    time.Time
	events eventHeap
	added  uint64
	// runOutside runs an event that belongs to no process, such as an action of a script. It may wait.
	runOutside func(run func())
}

// add adds an event that runs at a time, or now if the time has passed.
func (t *timeline) add(at time.Time, owner *process, run func()) {
	if at.Before(t.now) {
		at = t.now
	}
	t.added++
	heap.Push(&t.events, event{at: at, order: t.added, owner: owner, run: run})
}

// step runs the next event and returns false if there is no event before the end.
func (t *timeline) step(end time.Time) bool {
	if len(t.events) == 0 || t.events[0].at.After(end) {
		return false
	}
	e := heap.Pop(&t.events).(event)
	t.now = e.at
	switch {
	case e.owner == nil:
		t.runOutside(e.run)
	case !e.owner.isAlive():
	case e.owner.isPaused():
		e.owner.deferUntilResumed(e)
	default:
		e.run()
	}
	return true
}

// eventHeap is a heap of events, ordered by time.
type eventHeap []event

func (h eventHeap) Len() int { return len(h) }

func (h eventHeap) Less(i, j int) bool {
	if !h[i].at.Equal(h[j].at) {
		return h[i].at.Before(h[j].at)
	}
	return h[i].order < h[j].order
}

func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface. x is an event.
func (h *eventHeap) Push(x any) { *h = append(*h, x.(event)) }

// Pop implements heap.Interface. It returns an event.
func (h *eventHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = event{}
	*h = (*h)[:last]
	return e
}

// newRandom returns the random source of one part of the world. Each part has its own source, so that removing an
// action from a script does not change what the other parts draw.
func newRandom(seed uint64, part string) *rand.Rand {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(part))
	return rand.New(rand.NewPCG(seed, hash.Sum64()))
}

// between returns a random duration from low to high.
func between(random *rand.Rand, low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(random.Int64N(int64(high-low)))
}
