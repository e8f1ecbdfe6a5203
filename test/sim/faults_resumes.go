package sim

import (
	"math/rand/v2"
	"time"
)

func init() {
	registerAction("restart-api-server", 2, func(s *drawing) *action {
		length, share, seed := between(s.Rand, time.Second, 20*time.Second), float64(s.IntN(5))/4, s.Uint64()
		return s.action(func(w *World) {
			random := newRandom(seed, "bookmarks")
			for _, f := range w.reflectors {
				f.receiveBookmark(random, share)
			}
			w.serverDown = true
			w.add(w.now.Add(length), nil, func() {
				w.serverDown = false
				for _, f := range w.reflectors {
					f.resume(w.server.Version())
				}
			})
		}, "the API server is down for %s and then remembers no earlier changes; %.0f %% of the watches have received a bookmark shortly before",
			length.Round(time.Second), share*100)
	})
	registerAction("other-api-server", 2, onReplica(func(s *drawing, t target) *action {
		age, share, seed := uint64(s.IntN(300)), float64(s.IntN(5))/4, s.Uint64()
		length, lag := between(s.Rand, 5*time.Second, time.Minute), s.IntN(20)
		return s.action(func(w *World) {
			random, r := newRandom(seed, "bookmarks"), t.find(w)
			r.lists.lag = lag
			w.add(w.now.Add(length), nil, func() { r.lists.lag = 0 })
			oldest := max(age, w.server.Version()) - age
			for _, f := range w.reflectorsOf(r) {
				f.receiveBookmark(random, share)
				f.resume(oldest)
			}
		}, "the watches of %s are resumed at another API server that remembers the last %d changes; %.0f %% of them have received a bookmark shortly before; for %s, its lists lag behind by up to %d changes",
			t, age, share*100, length.Round(time.Second), lag)
	}))
	expectCoverage("resumed watch", 8)
	expectCoverage("bookmark", 8)
	expectCoverage("new list because the watch is too old", 8)
	expectCoverage("outdated new list", 4)
}

// reflectorsOf returns the reflectors of the process of a replica.
func (w *World) reflectorsOf(r *replica) (found []*reflector) {
	for _, f := range w.reflectors {
		if r.process != nil && f.process.root() == r.process {
			found = append(found, f)
		}
	}
	return found
}

// receiveBookmark delivers, with a probability, a bookmark: a version after the last change, up to which no other change
// of the kind was made.
func (f *reflector) receiveBookmark(random *rand.Rand, share float64) {
	w := f.process.world
	newest := w.server.Version()
	if changes := w.changes[f.kind]; f.position < len(changes) {
		newest = changes[f.position].Version - 1
	}
	hasBookmark := random.Float64() < share
	skipped := random.Uint64N(3) // the bookmark may be older than the last changes of other kinds
	if !hasBookmark || !f.isWatching() || newest < f.version+skipped {
		return
	}
	w.coverWatch("bookmark", f.process, f.kind)
	f.version = newest - skipped
}

// isWatching reports whether the process is alive and has received its first list.
func (f *reflector) isWatching() bool { return f.listed && f.process.isAlive() }

// resume resumes a watch at an API server that remembers the changes after a version. If the last change or bookmark is
// older, the API server responds with 410 Gone, and the reflector reads a new list.
func (f *reflector) resume(oldest uint64) {
	if !f.isWatching() {
		return
	}
	fault := "resumed watch"
	if f.version < oldest {
		f.expired, fault = true, "new list because the watch is too old"
	}
	f.process.world.coverWatch(fault, f.process, f.kind)
	f.reconnect()
}

// reconnect schedules the next delivery, even if nothing has changed.
func (f *reflector) reconnect() {
	if f.isWatching() && !f.scheduled {
		f.scheduled = true
		f.process.after(between(f.random, relistPause/4, relistPause), f.deliver)
	}
}
