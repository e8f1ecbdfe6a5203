package daemon

import (
	"net/http"

	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/daemon/leaderfence"
)

// fencedConfig returns a copy of config whose clients write nothing after the fence is closed, not even a write that
// was waiting while the process was suspended. The first such write calls end. Reads continue to work.
func fencedConfig(config *rest.Config, fence func() error, end func()) *rest.Config {
	fenced := rest.CopyConfig(config)
	fenced.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &fencedTransport{next: next, fence: fence, end: end}
	})
	return fenced
}

// fencedTransport checks the fence before each write, as late as a client can.
type fencedTransport struct {
	next  http.RoundTripper
	fence func() error
	end   func()
}

// RoundTrip sends a request, or returns the error of the closed fence.
func (t *fencedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := t.checkMethod(request.Method); err != nil {
		if request.Body != nil {
			_ = request.Body.Close() // a RoundTripper must close the body in any case
		}
		return nil, err
	}
	return t.next.RoundTrip(request)
}

// checkMethod returns an error if a request with this method may not be sent.
func (t *fencedTransport) checkMethod(method string) error {
	err := leaderfence.CheckMethod(method, t.fence)
	if err != nil {
		t.end()
	}
	return err
}

// WrappedRoundTripper returns the inner transport, which client-go needs.
func (t *fencedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }
