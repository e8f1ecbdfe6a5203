package daemon

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

// health tracks whether the scheduler's loop is alive and which components are ready.
type health struct {
	mu      sync.Mutex
	last    time.Time     // time of the last cycle
	allowed time.Duration // longest allowed time between cycles; 0 means that the loop need not run
	waiting map[string]bool
}

func newHealth(components []string) *health {
	h := &health{waiting: map[string]bool{}}
	for _, c := range components {
		h.waiting[c] = true
	}
	return h
}

func (h *health) recordBeat(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = now
}

// expectCycles sets the longest allowed time between cycles, starting now.
func (h *health) expectCycles(allowed time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last, h.allowed = time.Now(), allowed
}

func (h *health) stopExpecting() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.allowed = 0
}

// markStarted records that a component is serving or waiting for leadership.
func (h *health) markStarted(component string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.waiting, component)
}

// checkLiveness returns an error if the scheduler's loop is stuck.
func (h *health) checkLiveness(now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.allowed > 0 && now.Sub(h.last) > h.allowed {
		return fmt.Errorf("scheduler: the last cycle was %s ago", now.Sub(h.last).Round(time.Second))
	}
	return nil
}

// checkReadiness returns an error if a component has not started or the scheduler's loop is stuck.
func (h *health) checkReadiness(now time.Time) error {
	h.mu.Lock()
	for c := range h.waiting {
		h.mu.Unlock()
		return fmt.Errorf("%s: not started yet", c)
	}
	h.mu.Unlock()
	return h.checkLiveness(now)
}

func (h *health) newHandler() http.Handler {
	mux := http.NewServeMux()
	answer := func(check func(time.Time) error) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if err := check(time.Now()); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
			fmt.Fprintln(w, "ok")
		}
	}
	mux.HandleFunc("/healthz", answer(h.checkLiveness))
	mux.HandleFunc("/livez", answer(h.checkLiveness))
	mux.HandleFunc("/readyz", answer(h.checkReadiness))
	return mux
}
