package daemon

import (
	"net/http"
	"time"

	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/backpressure"
)

// watchPressure creates a throttle for all components. It measures every write that is made through config.
func watchPressure(config *rest.Config) *backpressure.Throttle {
	t := &backpressure.Throttle{}
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return &timed{inner: inner, throttle: t} })
	return t
}

// timed is a transport that reports the duration of each write to a throttle.
type timed struct {
	inner    http.RoundTripper
	throttle *backpressure.Throttle
}

// RoundTrip implements http.RoundTripper.
func (t *timed) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return t.inner.RoundTrip(r)
	}
	start := time.Now()
	response, err := t.inner.RoundTrip(r)
	now := time.Now()
	t.throttle.RecordWrite(now, now.Sub(start))
	return response, err
}

// WrappedRoundTripper returns the inner transport, which client-go needs.
func (t *timed) WrappedRoundTripper() http.RoundTripper { return t.inner }
