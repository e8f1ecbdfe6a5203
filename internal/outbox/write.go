package outbox

import (
	"context"
	"time"
)

// lane is a class of writes. Lanes are served in the order of these constants. However, statusShare ensures that
// statuses do not starve during a flood of binds.
type lane int

const (
	evictLane lane = iota
	bindLane
	statusLane // statuses that controllers or users wait for: a gang is admitted, or the reason why it waits
	toldLane   // informational: the state is visible elsewhere; under pressure, at most one write in governor.Share
	idleLane   // pod events and conditions, sent only if there is nothing else to write
	laneCount
)

// String returns the name of the lane in metrics and logs.
func (l lane) String() string {
	return [laneCount]string{"evict", "bind", "status", "told", "idle"}[l]
}

// statusShare limits status writes: while binds are waiting, only one in every statusShare writes is a status update.
const statusShare = 8

// write is one write to the API server.
type write struct {
	lane lane
	key  string // kind and object; writes with the same key are never in flight together
	gang string // only for binds: gangQueue groups by it

	// send makes the call. It must be safe to repeat.
	send func(context.Context) error
	// settled is called once, with nil or with the error of the failed write. It may be nil.
	settled func(error)

	attempt int
	queued  time.Time
}

// owed reports whether the outcome of the write must be reported even if a newer write replaces it. This is the case
// for binds and evictions. A status becomes obsolete when a newer one arrives.
func (w *write) owed() bool { return w.lane == evictLane || w.lane == bindLane }

// queues holds the queued writes. A write in the status, told or idle lane replaces a queued write with the same key.
type queues struct {
	evicts   fifo
	binds    *gangQueue
	statuses fifo
	told     fifo
	idle     fifo

	busy  map[string]bool   // keys in flight
	after map[string]*write // for each key in flight, the newest queued write
	turn  int
}

func newQueues() *queues {
	return &queues{binds: newGangQueue(), busy: map[string]bool{}, after: map[string]*write{}}
}

// put queues w. It returns the write that became obsolete, if any.
func (q *queues) put(w *write) (superseded *write) {
	if q.busy[w.key] {
		superseded = q.after[w.key]
		if superseded != nil && superseded.owed() && superseded.lane < w.lane {
			return w // an informational write does not replace a bind or an eviction
		}
		inherit(w, superseded)
		q.after[w.key] = w
		return superseded
	}
	switch w.lane {
	case evictLane:
		q.idle.drop(w.key)
		return q.evicts.put(w)
	case bindLane:
		q.idle.drop(w.key) // the reason why the pod waits no longer matters
		q.binds.push(w)
		return nil
	case statusLane:
		if old := q.told.drop(w.key); old != nil {
			superseded = old
		}
		if old := q.statuses.put(w); old != nil {
			superseded = old
		}
		return superseded
	case toldLane:
		if q.statuses.has(w.key) { // the newer status takes the place of the urgent one
			w.lane = statusLane
			return q.statuses.put(w)
		}
		return q.told.put(w)
	default:
		return q.idle.put(w)
	}
}

// inherit moves a status to the lane of the more urgent status that it replaces.
func inherit(w, old *write) {
	if old != nil && old.lane == statusLane && w.lane == toldLane {
		w.lane = statusLane
	}
}

// next returns the write to send now, and marks its key as busy. It returns nil if no write may be sent. Idle writes
// are returned only if idleAllowed is true, and writes of toldLane only if mayTell, which is called when one is
// queued, returns true.
func (q *queues) next(mayTell func() bool, idleAllowed bool) *write {
	w := q.choose(mayTell, idleAllowed)
	if w != nil {
		q.busy[w.key] = true
	}
	return w
}

func (q *queues) choose(mayTell func() bool, idleAllowed bool) *write {
	if w := q.evicts.take(); w != nil {
		return w
	}
	q.turn++
	if q.turn%statusShare == 0 {
		if w := q.statuses.take(); w != nil {
			return w
		}
		if w := q.tell(mayTell); w != nil {
			return w
		}
	}
	if w := q.binds.pop(); w != nil {
		return w
	}
	if w := q.statuses.take(); w != nil {
		return w
	}
	if w := q.tell(mayTell); w != nil {
		return w
	}
	if idleAllowed {
		return q.idle.take()
	}
	return nil
}

func (q *queues) tell(mayTell func() bool) *write {
	if q.told.len() == 0 || !mayTell() {
		return nil
	}
	return q.told.take()
}

// finished releases w's key and queues the write that arrived in the meantime. It reports whether there was one; w
// then need not be retried.
func (q *queues) finished(w *write) (newer bool) {
	delete(q.busy, w.key)
	later, ok := q.after[w.key]
	if ok {
		delete(q.after, w.key)
		q.put(later)
	}
	return ok
}

// again queues w for its next attempt, unless there is a write with the same key that is at least as urgent. A less
// urgent write waits until w is done. It reports whether w was queued.
func (q *queues) again(w *write) bool {
	later, ok := q.after[w.key]
	switch {
	case !ok:
		q.finished(w)
		q.put(w)
	case later.lane <= w.lane || !w.owed():
		q.finished(w)
		return false
	case w.lane == evictLane:
		q.evicts.put(w) // the key stays busy, so that the later write keeps waiting
	default:
		q.binds.push(w)
	}
	return true
}

// leaving returns the number of queued writes that could be sent now, ignoring the limits of mayTell and the limiter.
func (q *queues) leaving(idleAllowed bool) int {
	n := q.evicts.len() + q.binds.waiting + q.statuses.len() + q.told.len()
	if idleAllowed {
		n += q.idle.len()
	}
	return n
}

// waiting returns the number of queued writes in a lane.
func (q *queues) waiting(l lane) int {
	switch l {
	case evictLane:
		return q.evicts.len()
	case bindLane:
		return q.binds.waiting
	case statusLane:
		return q.statuses.len()
	case toldLane:
		return q.told.len()
	default:
		return q.idle.len()
	}
}

// fifo is a queue in which a write takes the place of a waiting write with the same key.
type fifo struct {
	order []*write
	byKey map[string]int // key to position, counted from the first write ever queued
	base  int            // position of order[0]
}

func (f *fifo) put(w *write) (superseded *write) {
	if at, ok := f.byKey[w.key]; ok {
		superseded = f.order[at-f.base]
		w.queued = superseded.queued
		f.order[at-f.base] = w
		return superseded
	}
	if f.byKey == nil {
		f.byKey = map[string]int{}
	}
	f.byKey[w.key] = f.base + len(f.order)
	f.order = append(f.order, w)
	return nil
}

func (f *fifo) take() *write {
	if len(f.order) == 0 {
		return nil
	}
	w := f.order[0]
	f.order[0] = nil
	f.order = f.order[1:]
	f.base++
	delete(f.byKey, w.key)
	f.skipDropped()
	return w
}

func (f *fifo) has(key string) bool {
	_, ok := f.byKey[key]
	return ok
}

// drop removes the write with a key and returns it, or nil if none exists.
func (f *fifo) drop(key string) *write {
	at, ok := f.byKey[key]
	if !ok {
		return nil
	}
	w := f.order[at-f.base]
	f.order[at-f.base] = nil
	delete(f.byKey, key)
	f.skipDropped()
	return w
}

func (f *fifo) head() *write {
	if len(f.order) == 0 {
		return nil
	}
	return f.order[0]
}

// skipDropped removes dropped writes from the head of the queue.
func (f *fifo) skipDropped() {
	for len(f.order) > 0 && f.order[0] == nil {
		f.order = f.order[1:]
		f.base++
	}
}

func (f *fifo) len() int { return len(f.byKey) }
