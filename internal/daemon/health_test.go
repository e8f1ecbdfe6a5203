package daemon

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestHealth(t *testing.T) {
	h := newHealth([]string{Scheduler, Controllers})
	status := func(path string) (int, string) {
		w := httptest.NewRecorder()
		h.newHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	expect := func(when, path string, want int) {
		t.Helper()
		if code, body := status(path); code != want {
			t.Errorf("%s: %s is %d (%s), want %d", when, path, code, body, want)
		}
	}
	expect("before anything started", "/healthz", http.StatusOK)
	expect("before anything started", "/readyz", http.StatusServiceUnavailable)
	h.markStarted(Scheduler)
	expect("with one of two started", "/readyz", http.StatusServiceUnavailable)
	h.markStarted(Controllers)
	expect("with both started", "/readyz", http.StatusOK)
	h.expectCycles(time.Minute)
	h.recordBeat(time.Now().Add(-2 * time.Minute))
	expect("with a loop that is stuck", "/healthz", http.StatusServiceUnavailable)
	expect("with a loop that is stuck", "/readyz", http.StatusServiceUnavailable)
	h.recordBeat(time.Now())
	expect("with a loop that goes on", "/healthz", http.StatusOK)
	h.recordBeat(time.Now().Add(-2 * time.Minute))
	h.stopExpecting()
	expect("when standing by", "/healthz", http.StatusOK)
}
