package sim

import (
	"time"
)

// Long pauses and jumps of clocks exceed all time limits of leases, requests and watches, and most delays of policies.
const (
	shortestLongPause = 90 * time.Second
	longestLongPause  = 4 * time.Minute
)

func init() {
	registerAction("long-pause", 1, onReplica(func(s *drawing, t target) *action {
		length := between(s.Rand, shortestLongPause, longestLongPause)
		return s.action(func(w *World) { t.find(w).pauseLong(length) }, "%s is paused for %s", t, length.Round(time.Second))
	}))
	registerAction("long-pause-after-request", 1, func(s *drawing) *action {
		kind, count := drawRequestKind(s), 1+s.IntN(6)
		length := between(s.Rand, shortestLongPause, longestLongPause)
		return s.action(func(w *World) {
			w.addFailpoint(&failpoint{name: "long pause", kind: kind, left: count, after: true, do: func(l *link) { l.replica().pauseLong(length) }})
		}, "right after its %s %s from now on, the leading %s is paused for %s", ordinal(count), kind.text, kind.program, length.Round(time.Second))
	})
	registerAction("long-clock-jump", 1, onReplica(func(s *drawing, t target) *action {
		offset, length := between(s.Rand, shortestLongPause, longestLongPause), between(s.Rand, 5*time.Second, 4*time.Minute)
		direction := "ahead"
		if s.IntN(2) == 0 {
			offset, direction = -offset, "back"
		}
		return s.action(func(w *World) {
			r := t.find(w)
			if r.process != nil {
				w.cover("long clock jump", r.program+": "+r.role())
			}
			r.jumpClock(offset, length)
		}, "the clock of %s jumps %s by %s, and is corrected after %s", t, direction, offset.Abs().Round(time.Second), length.Round(time.Second))
	}))
	expectCoverage("long pause", 3)
	expectCoverage("long pause after a request", 3)
	expectCoverage("long clock jump", 3)
}

// pauseLong pauses the process and records this as a long pause.
func (r *replica) pauseLong(length time.Duration) {
	if p := r.process; p != nil && !p.ended && !p.paused {
		r.world.cover("long pause", r.program+": "+r.role())
	}
	r.pause(length)
}
