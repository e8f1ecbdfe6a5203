package sim

import "time"

func init() {
	registerAction("clock-jump", 2, onReplica(func(s *drawing, t target) *action {
		offset := between(s.Rand, time.Second, 90*time.Second)
		direction := "ahead"
		if s.IntN(2) == 0 {
			offset, direction = -offset, "back"
		}
		length := between(s.Rand, 5*time.Second, 2*time.Minute)
		return s.action(func(w *World) {
			t.find(w).jumpClock(offset, length)
		}, "the clock of %s jumps %s by %s, and is corrected after %s", t, direction, offset.Abs().Round(time.Second), length.Round(time.Second))
	}))
	expectCoverage("clock jump", 3)
}

// jumpClock changes how far the clock of the process is ahead, and corrects it later.
func (r *replica) jumpClock(offset, length time.Duration) {
	p, w := r.process, r.world
	if p == nil {
		return
	}
	w.cover("clock jump", r.program+": "+r.role())
	p.offset = offset
	w.slowestClock = max(w.slowestClock, -offset)
	w.checks.gates.fastestClock = max(w.checks.gates.fastestClock, offset)
	w.add(w.now.Add(length), nil, func() { p.offset = 0 })
}

// wallTime returns the time that the clock of the process shows. Like Go's monotonic clock, the time that leases and
// pauses are measured with is not affected by jumps of the clock; it is World.now.
func (p *process) wallTime() time.Time { return p.world.now.Add(p.root().offset) }
