package sim

import (
	"fmt"
	"time"
)

func init() {
	registerAction("failpoint", 14, func(s *drawing) *action {
		kind, count := drawRequestKind(s), 1+s.IntN(1+s.IntN(12))
		strike := drawStrike(s, kind.program)
		moment := "before"
		if strike.after {
			moment = "after"
		}
		return s.action(func(w *World) {
			w.addFailpoint(&failpoint{name: strike.name, kind: kind, left: count, after: strike.after, do: strike.do})
		}, "right %s its %s %s from now on, the leading %s %s", moment, ordinal(count), kind.text, kind.program, strike.text)
	})
	for _, fault := range []string{"crash before", "crash after", "lost connection before", "lost connection after"} {
		expectCoverage(fault+" a request", 4)
	}
	expectCoverage("pause after a request", 4)
	expectCoverage("second crash before a request", 2)
	expectCoverage("second crash after a request", 2)
}

// strike is a fault that happens to a program at one of its requests.
type strike struct {
	name  string
	text  string
	after bool // after the API server has carried out the request
	do    func(l *link)
}

// drawStrike draws a fault of a program.
func drawStrike(s *drawing, program string) strike {
	after := s.IntN(2) == 0
	restart := between(s.Rand, shortestRestart, longestRestart)
	switch s.IntN(8) {
	case 0, 1:
		return strike{"crash", "crashes", after, func(l *link) { l.replica().crash(restart) }}
	case 2:
		changes := 1 + s.IntN(20)
		return strike{"crash", fmt.Sprintf("crashes, and the first lists of the next one lag behind by up to %d changes", changes), after, func(l *link) {
			l.process.world.outdateLists(program, changes)
			l.replica().crash(restart)
		}}
	case 3:
		return strike{"crash", "and its standby crash", after, func(l *link) {
			target{program: program, standby: true}.find(l.process.world).crash(restart)
			l.replica().crash(restart)
		}}
	case 4:
		return drawDoubleCrash(s, program, restart)
	case 5, 6:
		// A pause before a request would also be a pause after the check of the fence, which no client can prevent.
		length := between(s.Rand, time.Second, 90*time.Second)
		return strike{"pause", fmt.Sprintf("is paused for %s", length.Round(time.Second)), true, func(l *link) { l.replica().pause(length) }}
	default:
		length := between(s.Rand, time.Second, 40*time.Second)
		return strike{"lost connection", fmt.Sprintf("loses its connection for %s", length.Round(time.Second)), after, func(l *link) {
			r, w := l.replica(), l.process.world
			r.weather = weather{cut: true}
			w.add(w.now.Add(length), nil, func() { r.weather = weather{} })
		}}
	}
}

// drawDoubleCrash draws a crash after which the next leader crashes at one of its first writes.
func drawDoubleCrash(s *drawing, program string, restart time.Duration) strike {
	count, changes, after := 1+s.IntN(8), s.IntN(10), s.IntN(2) == 0
	text := fmt.Sprintf("crashes, and the next leader at its %s write; their first lists lag behind by up to %d changes", ordinal(count), changes)
	return strike{"crash", text, after, func(l *link) {
		w := l.process.world
		w.outdateLists(program, changes)
		w.addFailpoint(&failpoint{
			name: "second crash", kind: &requestKind{program: program}, left: count, after: after, do: func(l *link) { l.replica().crash(restart) },
		})
		l.replica().crash(restart)
	}}
}
