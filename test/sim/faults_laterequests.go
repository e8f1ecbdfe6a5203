package sim

import (
	"time"

	"github.com/vc-batch/vc/test/apiserver"
)

// longestLateness is the maximum time between the timeout of the client and the execution of a late request. An API server
// that waits for etcd executes such requests.
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

// carryOutLate carries out a late request. If it is a create or a bind, its object counts as created late from then on, unless
// the API server rejects the request.
func (c *checks) carryOutLate(r *apiserver.Request, carryOut func() error) {
	key := describeObject(r.Kind, r.Namespace, nameOf(r))
	wasLate := c.lateCreates[key]
	if r.Verb == apiserver.Create {
		c.lateCreates[key] = true
	}
	if err := carryOut(); err != nil && !wasLate {
		delete(c.lateCreates, key)
	}
}
