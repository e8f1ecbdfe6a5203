package sim

import "time"

// longestLateness is how long after the timeout of its client a late request is carried out at most. An API server that
// waits for etcd carries out such requests.
const longestLateness = 20 * time.Second

func init() {
	registerAction("late-requests", 4, onReplica(func(s *drawing, t target) *action {
		length := between(s.Rand, time.Second, time.Minute)
		share := float64(1+s.IntN(5)) / 10
		return s.action(func(w *World) {
			r := t.find(w)
			r.weather = weather{late: share}
			w.add(w.now.Add(length), nil, func() { r.weather = weather{} })
		}, "for %s, %s stops waiting for %.0f %% of its requests before the API server carries them out", length.Round(time.Second), t, share*100)
	}))
	expectCoverage(lateRequest.String(), 8)
}
