package outbox

import (
	"context"
	"time"
)

// lane is a class of writes. Lanes are served in the order of these constants,
// but for statusShare, which keeps status from starving behind a flood of binds.
type lane int

const (
	evictLane lane = iota
	bindLane
	statusLane // others act upon it: a gang is let in, or waits and people should know why
	toldLane   // tells of what is so already: under pressure one write in governor.Share
	idleLane   // pod events and conditions: only when there is nothing better to do
	laneCount
)

// String is the lane's name in metrics and logs.
func (l lane) String() string {
	return [laneCount]string{"evict", "bind", "status", "told", "idle"}[l]
}

// statusShare: while binds wait, one write in so many is a status.
const statusShare = 8

// write is one effect on its way out.
type write struct {
	lane lane
	key  string // kind and object; writes of one key are never in flight together
	gang string // binds only: what gangQueue groups by

	// send does it. It must be repeatable.
	send func(context.Context) error
	// settled is called once, with nil or with the error it was given up for.
	// It may be nil.
	settled func(error)

	attempt int
	queued  time.Time
}

// owed says whether somebody waits for the outcome, so that the write must be
// settled even when another takes its place. A status or a remark needs not: the
// newer one says all there is to say.
func (w *write) owed() bool { return w.lane == evictLane || w.lane == bindLane }

// queues hold what waits. A status, told or idle write replaces a waiting one of its key.
type queues struct {
	evicts   fifo
	binds    *gangQueue
	statuses fifo
	told     fifo
	idle     fifo

	busy  map[string]bool   // keys in flight
	after map[string]*write // newest write of a key in flight
	turn  int
}

func newQueues() *queues {
	return &queues{binds: newGangQueue(), busy: map[string]bool{}, after: map[string]*write{}}
}

// put adds w; it returns the write that w made superfluous, if any.
func (q *queues) put(w *write) (superseded *write) {
	if q.busy[w.key] {
		superseded = q.after[w.key]
		if superseded != nil && superseded.owed() && superseded.lane < w.lane {
			return w // a bind or an eviction is not given up for a remark
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
		q.idle.drop(w.key) // why the pod waits no longer matters
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
		if q.statuses.has(w.key) { // the newer status keeps the urgent one's place
			w.lane = statusLane
			return q.statuses.put(w)
		}
		return q.told.put(w)
	default:
		return q.idle.put(w)
	}
}

// inherit gives a status that takes the place of a more urgent one its urgency.
func inherit(w, old *write) {
	if old != nil && old.lane == statusLane && w.lane == toldLane {
		w.lane = statusLane
	}
}

// next takes the write that should leave now and marks its key busy; nil when
// there is none. Idle writes are taken only when allowed, told ones when mayTell
// says so, which is asked only when one waits.
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

// finished frees w's key and queues what was put meanwhile. It reports whether
// a newer write of the key exists, so that w need not be tried again.
func (q *queues) finished(w *write) (newer bool) {
	delete(q.busy, w.key)
	later, ok := q.after[w.key]
	if ok {
		delete(q.after, w.key)
		q.put(later)
	}
	return ok
}

// again queues w, which has failed and rested, unless a write as urgent of its
// key came meanwhile. A less urgent one waits until w is done.
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
		q.evicts.put(w) // its key stays busy, which holds later back
	default:
		q.binds.push(w)
	}
	return true
}

// leaving is the number of writes that may leave at once, as far as the queues know.
func (q *queues) leaving(idleAllowed bool) int {
	n := q.evicts.len() + q.binds.waiting + q.statuses.len() + q.told.len()
	if idleAllowed {
		n += q.idle.len()
	}
	return n
}

// waiting is the number of writes of a lane that wait.
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

// fifo is a queue in which a later write of a key takes the place of an earlier
// one that still waits.
type fifo struct {
	order []*write
	byKey map[string]int // key to position counted from the first ever queued
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

// drop forgets the write of a key and returns it, nil when none waits.
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

// skipDropped keeps a write, not a gap, at the head.
func (f *fifo) skipDropped() {
	for len(f.order) > 0 && f.order[0] == nil {
		f.order = f.order[1:]
		f.base++
	}
}

func (f *fifo) len() int { return len(f.byKey) }
