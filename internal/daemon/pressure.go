package daemon

import (
	"net/http"
	"time"

	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/backpressure"
)

// watchPressure creates a governor for all components. It measures every write that is made through config.
func watchPressure(config *rest.Config) *backpressure.Governor {
	g := &backpressure.Governor{}
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return &timed{inner: inner, governor: g} })
	return g
}

// timed is a transport that reports the duration of each write to a governor.
type timed struct {
	inner    http.RoundTripper
	governor *backpressure.Governor
}

// RoundTrip implements http.RoundTripper.
func (t *timed) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return t.inner.RoundTrip(r)
	}
	start := time.Now()
	response, err := t.inner.RoundTrip(r)
	now := time.Now()
	t.governor.RecordWrite(now, now.Sub(start))
	return response, err
}

// WrappedRoundTripper returns the inner transport, which client-go needs.
func (t *timed) WrappedRoundTripper() http.RoundTripper { return t.inner }
