package daemon

import (
	"net/http"
	"time"

	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/governor"
)

// watchPressure makes a governor and tells it of every write that goes out by
// config, whichever component it is of.
func watchPressure(config *rest.Config) *governor.Governor {
	g := &governor.Governor{}
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return &timed{inner: inner, governor: g} })
	return g
}

// timed tells a governor how long writes take.
type timed struct {
	inner    http.RoundTripper
	governor *governor.Governor
}

// RoundTrip is http.RoundTripper's.
func (t *timed) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return t.inner.RoundTrip(r)
	}
	start := time.Now()
	response, err := t.inner.RoundTrip(r)
	now := time.Now()
	t.governor.Answered(now, now.Sub(start))
	return response, err
}

// WrappedRoundTripper lets client-go find what is below.
func (t *timed) WrappedRoundTripper() http.RoundTripper { return t.inner }
