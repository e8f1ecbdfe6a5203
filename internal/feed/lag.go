package feed

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// maxPendingBinds is the maximum number of binds whose lag is measured at the same time. Further binds are not measured.
const maxPendingBinds = 10_000

// bindLag measures how long the watch of pods takes to show a bind of this scheduler after the API server has confirmed
// it. Both moments are read from the clock of this process, so the clocks of other machines do not matter. It is safe for
// concurrent use.
type bindLag struct {
	observe func(time.Duration) // may be nil

	mu      sync.Mutex
	pending map[types.UID]pendingBind
}

// pendingBind is a bind that has been sent and that either the API server or the watch has not reported yet.
type pendingBind struct {
	confirmed time.Time // when the API server confirmed it; zero if it has not
	seen      bool      // whether the watch has shown it
}

func newBindLag(observe func(time.Duration)) *bindLag {
	return &bindLag{observe: observe, pending: map[types.UID]pendingBind{}}
}

// recordSent records that a bind is being sent.
func (l *bindLag) recordSent(pod types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.observe != nil && len(l.pending) < maxPendingBinds {
		l.pending[pod] = pendingBind{}
	}
}

// recordAnswer records the answer to a bind. If the watch was faster than the answer, there was no lag.
func (l *bindLag) recordAnswer(pod types.UID, isConfirmed bool, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bind, ok := l.pending[pod]
	switch {
	case !ok:
	case !isConfirmed:
		delete(l.pending, pod)
	case bind.seen:
		delete(l.pending, pod)
		l.observe(0)
	default:
		l.pending[pod] = pendingBind{confirmed: now}
	}
}

// recordWatched records that the watch shows a bound pod.
func (l *bindLag) recordWatched(pod types.UID, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bind, ok := l.pending[pod]
	switch {
	case !ok:
	case bind.confirmed.IsZero():
		l.pending[pod] = pendingBind{seen: true}
	default:
		delete(l.pending, pod)
		l.observe(now.Sub(bind.confirmed))
	}
}

// forget drops a deleted pod.
func (l *bindLag) forget(pod types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pending, pod)
}

// BeginBind records that a bind of a pod is being sent to the API server.
func (f *Feed) BeginBind(pod types.UID) { f.binds.recordSent(pod) }

// EndBind records the answer of the API server to a bind.
func (f *Feed) EndBind(pod types.UID, isConfirmed bool) {
	f.binds.recordAnswer(pod, isConfirmed, time.Now())
}

// LastEvents returns when the watch of each kind last received an event, a bookmark or a list. Kinds that the API server
// does not serve, and those that have not been listed yet, are missing.
func (f *Feed) LastEvents() map[string]time.Time {
	events := make(map[string]time.Time, len(f.watches))
	for _, w := range f.watches {
		if optional, ok := w.source.(*optionalKind); ok && optional.missing.Load() {
			continue
		}
		store, ok := w.store.(interface{ lastEvent() time.Time })
		if !ok {
			continue
		}
		if at := store.lastEvent(); !at.IsZero() {
			events[w.kind] = at
		}
	}
	return events
}
