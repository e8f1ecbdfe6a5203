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
	infoLane   // informational: the state is visible elsewhere; under pressure, at most one write in backpressure.Share
	idleLane   // pod events and conditions, sent only if there is nothing else to write
	laneCount
)

// String returns the name of the lane in metrics and logs.
func (l lane) String() string {
	return [laneCount]string{"evict", "bind", "status", "info", "idle"}[l]
}

// statusShare limits status writes. While binds are waiting, only one in every statusShare writes is a status update.
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

// mustReport reports whether the outcome of the write must be reported even if a newer write replaces it. This is the
// case for binds and evictions. A status becomes obsolete when a newer one arrives.
func (w *write) mustReport() bool { return w.lane == evictLane || w.lane == bindLane }

// queues holds the queued writes. A write in the status, info or idle lane replaces a queued write with the same key.
type queues struct {
	evicts   fifo
	binds    *gangQueue
	statuses fifo
	info     fifo
	idle     fifo

	busy  map[string]*write // writes in flight or waiting for their next attempt, by key
	after map[string]*write // for each key in flight, the newest queued write
	turn  int
}

func newQueues() *queues {
	return &queues{binds: newGangQueue(), busy: map[string]*write{}, after: map[string]*write{}}
}

// queueWrite queues w. It returns the write that became obsolete, if any.
func (q *queues) queueWrite(w *write) (superseded *write) {
	if q.busy[w.key] != nil {
		superseded = q.after[w.key]
		if superseded != nil && superseded.mustReport() && superseded.lane < w.lane {
			return w // an informational write does not replace a bind or an eviction
		}
		inheritLane(w, superseded)
		q.after[w.key] = w
		return superseded
	}
	switch w.lane {
	case evictLane:
		q.idle.dropWriteFor(w.key)
		return q.evicts.appendOrReplace(w)
	case bindLane:
		q.idle.dropWriteFor(w.key) // the reason why the pod waits no longer matters
		q.binds.pushGangWrite(w)
		return nil
	case statusLane:
		if old := q.info.dropWriteFor(w.key); old != nil {
			superseded = old
		}
		if old := q.statuses.appendOrReplace(w); old != nil {
			superseded = old
		}
		return superseded
	case infoLane:
		if q.statuses.hasWriteFor(w.key) { // the newer status takes the place of the urgent one
			w.lane = statusLane
			return q.statuses.appendOrReplace(w)
		}
		return q.info.appendOrReplace(w)
	default:
		return q.idle.appendOrReplace(w)
	}
}

// inheritLane moves w to statusLane if it replaces a status that was more urgent.
func inheritLane(w, old *write) {
	if old != nil && old.lane == statusLane && w.lane == infoLane {
		w.lane = statusLane
	}
}

// takeNextWrite returns the write to send now, and marks its key as busy. It returns nil if no write may be sent. Idle
// writes are returned only if idleAllowed is true, and writes in infoLane only if mayWriteInfo returns true. It calls
// mayWriteInfo only when such a write is queued.
func (q *queues) takeNextWrite(mayWriteInfo func() bool, idleAllowed bool) *write {
	w := q.chooseWrite(mayWriteInfo, idleAllowed)
	if w != nil {
		q.busy[w.key] = w
	}
	return w
}

func (q *queues) chooseWrite(mayWriteInfo func() bool, idleAllowed bool) *write {
	if w := q.evicts.takeFirstWrite(); w != nil {
		return w
	}
	q.turn++
	if q.turn%statusShare == 0 {
		if w := q.statuses.takeFirstWrite(); w != nil {
			return w
		}
		if w := q.takeInfoWrite(mayWriteInfo); w != nil {
			return w
		}
	}
	if w := q.binds.popNextWrite(); w != nil {
		return w
	}
	if w := q.statuses.takeFirstWrite(); w != nil {
		return w
	}
	if w := q.takeInfoWrite(mayWriteInfo); w != nil {
		return w
	}
	if idleAllowed {
		return q.idle.takeFirstWrite()
	}
	return nil
}

func (q *queues) takeInfoWrite(mayWriteInfo func() bool) *write {
	if q.info.countWrites() == 0 || !mayWriteInfo() {
		return nil
	}
	return q.info.takeFirstWrite()
}

// finishWrite releases w's key and queues the write that arrived in the meantime. It reports whether there was such a
// write, in which case w need not be retried.
func (q *queues) finishWrite(w *write) (newer bool) {
	delete(q.busy, w.key)
	later, ok := q.after[w.key]
	if ok {
		delete(q.after, w.key)
		q.queueWrite(later)
	}
	return ok
}

// requeueWrite queues w for its next attempt, unless there is a write with the same key that is at least as urgent. A
// less urgent write with the same key waits until w is done. It reports whether w was queued.
func (q *queues) requeueWrite(w *write) bool {
	later, ok := q.after[w.key]
	switch {
	case !ok:
		q.finishWrite(w)
		q.queueWrite(w)
	case later.lane <= w.lane || !w.mustReport():
		q.finishWrite(w)
		return false
	case w.lane == evictLane:
		q.evicts.appendOrReplace(w) // the key stays busy, so that the later write keeps waiting
	default:
		q.binds.pushGangWrite(w)
	}
	return true
}

// countSendable returns the number of queued writes that could be sent now, ignoring the limits of mayWriteInfo and the
// limiter.
func (q *queues) countSendable(idleAllowed bool) int {
	n := q.evicts.countWrites() + q.binds.waiting + q.statuses.countWrites() + q.info.countWrites()
	if idleAllowed {
		n += q.idle.countWrites()
	}
	return n
}

// countWaiting returns the number of queued writes in a lane.
func (q *queues) countWaiting(l lane) int {
	switch l {
	case evictLane:
		return q.evicts.countWrites()
	case bindLane:
		return q.binds.waiting
	case statusLane:
		return q.statuses.countWrites()
	case infoLane:
		return q.info.countWrites()
	default:
		return q.idle.countWrites()
	}
}

// fifo is a queue in which a write takes the place of a waiting write with the same key.
type fifo struct {
	order []*write
	byKey map[string]int // key to position, counted from the first write ever queued
	base  int            // position of order[0]
}

func (f *fifo) appendOrReplace(w *write) (superseded *write) {
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

func (f *fifo) takeFirstWrite() *write {
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

func (f *fifo) hasWriteFor(key string) bool {
	_, ok := f.byKey[key]
	return ok
}

// dropWriteFor removes the write with a key and returns it, or nil if none exists.
func (f *fifo) dropWriteFor(key string) *write {
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

func (f *fifo) firstWrite() *write {
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

func (f *fifo) countWrites() int { return len(f.byKey) }
