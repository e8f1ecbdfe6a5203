package outbox

import "time"

// Backlog describes the unfinished writes of a lane, which are queued, in flight or waiting for their next attempt.
type Backlog struct {
	Lane   string
	Writes int
	// Oldest is the age of the oldest of these writes, or 0 if the lane has no such write.
	Oldest time.Duration
}

// Backlogs returns the backlog of each lane. It is safe for concurrent use.
func (o *Outbox) Backlogs() []Backlog {
	o.engine.mu.Lock()
	defer o.engine.mu.Unlock()
	now := o.o.Clock.Now()
	all := make([]Backlog, laneCount)
	for l := range all {
		all[l].Lane = lane(l).String()
	}
	o.engine.queues.eachUnfinished(func(w *write) {
		b := &all[w.lane]
		b.Writes++
		b.Oldest = max(b.Oldest, now.Sub(w.queued))
	})
	return all
}

// eachUnfinished calls visit for each unfinished write.
func (q *queues) eachUnfinished(visit func(*write)) {
	for _, f := range []*fifo{&q.evicts, &q.statuses, &q.info, &q.idle} {
		for _, w := range f.order {
			if w != nil && q.busy[w.key] != w { // an eviction to be repeated is in both
				visit(w)
			}
		}
	}
	for _, g := range q.binds.gangs {
		for _, w := range g.writes {
			if q.busy[w.key] != w {
				visit(w)
			}
		}
	}
	for _, w := range q.busy {
		visit(w)
	}
	for _, w := range q.after {
		visit(w)
	}
}
