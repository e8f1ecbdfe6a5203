package sim

import (
	"fmt"
	"time"
)

func init() {
	registerAction("bad-network", 6, onReplica(func(s *drawing, t target) *action {
		length := between(s.Rand, time.Second, time.Minute)
		bad, text := drawWeather(s)
		return s.action(func(w *World) {
			r := t.find(w)
			r.weather = bad
			w.add(w.now.Add(length), nil, func() { r.weather = weather{} })
		}, "for %s, %s %s", length.Round(time.Second), t, text)
	}))
	registerAction("expire-watches", 2, func(s *drawing) *action {
		return s.action(func(w *World) {
			for _, f := range w.reflectors {
				f.expired = true
				if f.isWatching() {
					w.coverWatch("expired watch", f.process, f.kind)
				}
			}
		}, "the API server forgets old versions, so that every watch starts with a new list")
	})
	registerAction("api-server-down", 2, func(s *drawing) *action {
		length := between(s.Rand, time.Second, 40*time.Second)
		return s.action(func(w *World) {
			w.serverDown = true
			w.add(w.now.Add(length), nil, func() { w.serverDown = false })
		}, "the API server is down for %s", length.Round(time.Second))
	})
	registerAction("etcd-full", 1, func(s *drawing) *action {
		length := between(s.Rand, time.Second, 40*time.Second)
		return s.action(func(w *World) {
			w.storageFull = true
			w.add(w.now.Add(length), nil, func() { w.storageFull = false })
		}, "for %s, etcd is full and rejects writes", length.Round(time.Second))
	})
	for _, fault := range []string{"API server down", "no connection", "slow network", lostRequest.String(), lostResponse.String(), rejected.String()} {
		expectCoverage(fault, 4)
	}
	expectCoverage(timedOutAfterwards.String(), 4)
	expectCoverage("full etcd", 3)
	expectCoverage("expired watch", 8)
}

// drawWeather draws a bad network.
func drawWeather(s *drawing) (weather, string) {
	share := float64(1+s.IntN(5)) / 10
	percent := fmt.Sprintf("%.0f %%", share*100)
	switch s.IntN(5) {
	case 0:
		return weather{cut: true}, "has no connection to the API server"
	case 1:
		slow := between(s.Rand, 50*time.Millisecond, 4*time.Second)
		return weather{slow: slow}, fmt.Sprintf("has a network that delays requests and responses by up to %s", slow.Round(time.Millisecond))
	case 2:
		return weather{loseRequests: share}, fmt.Sprintf("loses %s of its requests", percent)
	case 3:
		return weather{loseResponses: share}, fmt.Sprintf("loses %s of the responses to its requests", percent)
	default:
		return weather{errors: share}, fmt.Sprintf("gets an error for %s of its requests", percent)
	}
}
