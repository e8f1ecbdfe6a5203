package sim

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// watchedKinds are the kinds whose watches get faults.
var watchedKinds = []string{"Pod", "Job", "PodGroup", "Node", "Queue", "Command"}

func init() {
	registerAction("late-watches", 5, onReplica(func(s *drawing, t target) *action {
		length, kinds, text := between(s.Rand, 5*time.Second, 2*time.Minute), drawKinds(s), ""
		lag := between(s.Rand, 100*time.Millisecond, []time.Duration{15 * time.Second, time.Minute}[s.IntN(2)])
		bad := weather{}
		if s.IntN(3) == 0 {
			bad.loseResponses = float64(1+s.IntN(5)) / 10
			text = fmt.Sprintf(", and loses %.0f %% of the responses to its requests", bad.loseResponses*100)
		}
		return s.action(func(w *World) {
			r := t.find(w)
			if bad != (weather{}) {
				r.weather = bad
			}
			for _, kind := range kinds {
				r.lags[kind] = lag
			}
			w.add(w.now.Add(length), nil, func() {
				if bad != (weather{}) {
					r.weather = weather{}
				}
				for _, kind := range kinds {
					delete(r.lags, kind)
				}
			})
		}, "for %s, %s receives changes of %ss up to %s late%s", length.Round(time.Second), t, strings.Join(kinds, "s and "), lag.Round(100*time.Millisecond), text)
	}))
	registerAction("end-watches-in-the-middle", 2, onReplica(func(s *drawing, t target) *action {
		length, share := between(s.Rand, 5*time.Second, time.Minute), float64(1+s.IntN(5))/10
		return s.action(func(w *World) {
			r := t.find(w)
			r.expireWatches = share
			w.add(w.now.Add(length), nil, func() { r.expireWatches = 0 })
		}, "for %s, %.0f %% of the deliveries to %s stop in the middle with 410 Gone", length.Round(time.Second), share*100, t)
	}))
	expectCoverage("late watch", 4)
	expectCoverage("watch ends in the middle", 4)
	expectCoverage("new list after a lost connection", 4)
}

// drawKinds draws one to three kinds whose watches are late, while those of other kinds are current.
func drawKinds(s *drawing) []string {
	var kinds []string
	for _, i := range s.Perm(len(watchedKinds))[:1+s.IntN(3)] {
		kinds = append(kinds, watchedKinds[i])
	}
	return kinds
}

// coverWatch records that a fault has affected a watch.
func (w *World) coverWatch(fault string, p *process, kind schema.GroupVersionKind) {
	if r := w.replicaOf(p); r != nil {
		w.cover(fault, r.program+": "+kind.Kind)
	}
}
