package sim

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// listFaults are faults of the lists of a program. The zero value is none.
type listFaults struct {
	parts    int           // most parts in which a list arrives; 0 means that it arrives at once
	pause    time.Duration // the longest pause before each part
	failures float64       // the probability that a list fails before a part
	lag      int           // the maximum number of changes by which lists after the first one lag behind
}

func init() {
	registerAction("lists-in-parts", 2, onReplica(func(s *drawing, t target) *action {
		length := between(s.Rand, 10*time.Second, 2*time.Minute)
		faults := listFaults{parts: 2 + s.IntN(4), pause: []time.Duration{50 * time.Millisecond, 3 * time.Second}[s.IntN(2)], failures: float64(s.IntN(5)) / 10}
		restarts := s.IntN(2) == 0
		restart, text := between(s.Rand, shortestRestart, longestRestart), "its watches expire"
		if restarts {
			text = "it crashes"
		}
		return s.action(func(w *World) {
			r := t.find(w)
			r.lists.parts, r.lists.pause, r.lists.failures = faults.parts, faults.pause, faults.failures
			w.add(w.now.Add(length), nil, func() { r.lists.parts = 0 })
			if restarts {
				r.crash(restart)
				return
			}
			for _, f := range w.reflectorsOf(r) {
				f.expired = true
				f.reconnect()
			}
		}, "for %s, lists of %s arrive in up to %d parts, with pauses of up to %s, and %.0f %% of the parts fail; %s", length.Round(time.Second), t,
			faults.parts, faults.pause, faults.failures*100, text)
	}))
	expectCoverage("list in parts", 4)
	expectCoverage("list fails in the middle", 4)
	expectCoverage("continue token expires", 4)
}

// partReceiver is a receiver that handles the objects of a list before the list is complete.
type partReceiver interface {
	receivePart(objects []client.Object)
}

// partialList is a list that arrives in parts: pages with a limit and a continue token, or a stream of objects. All parts
// show the objects as of the same version. A receiver does not receive a list that fails before the last part.
type partialList struct {
	reflector *reflector
	faults    listFaults
	at        int // number of changes of the kind that the list contains
	version   uint64
	objects   []client.Object
	received  int // number of objects
	parts     int // number of parts that are missing
}

func newPartialList(f *reflector, faults listFaults, at int, version uint64) *partialList {
	f.process.world.coverWatch("list in parts", f.process, f.kind)
	objects := f.process.world.objectsAt(f.kind, at)
	return &partialList{reflector: f, faults: faults, at: at, version: version, objects: objects, parts: 1 + f.random.IntN(faults.parts)}
}

// receiveNext receives the next part after a pause, and later the parts after it.
func (l *partialList) receiveNext() {
	f := l.reflector
	f.process.after(between(f.random, shortestTrip, longestTrip+l.faults.pause), func() {
		w := f.process.world
		if w.isUnreachable(f.process) || f.random.Float64() < l.faults.failures {
			l.fail()
			return
		}
		end := l.received + (len(l.objects)-l.received)/l.parts
		if r, ok := f.receiver.(partReceiver); ok {
			r.receivePart(l.objects[l.received:end])
		}
		l.received = end
		if l.parts--; l.parts > 0 {
			l.receiveNext()
			return
		}
		f.completeList(l.at, l.version)
	})
}

// fail drops what has arrived. If the continue token has expired, client-go reads the whole list at once. After other
// errors, it begins again.
func (l *partialList) fail() {
	f := l.reflector
	w := f.process.world
	isFirst := l.received == 0
	if isFirst || w.isUnreachable(f.process) || f.random.IntN(2) == 0 {
		w.coverWatch("list fails in the middle", f.process, f.kind)
		f.listAgain()
		return
	}
	w.coverWatch("continue token expires", f.process, f.kind)
	f.completeList(len(w.changes[f.kind]), w.server.Version())
}
