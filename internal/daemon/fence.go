package daemon

import (
	"net/http"

	"k8s.io/client-go/rest"
)

// fencedConfig returns a copy of config whose clients write nothing once the fence is closed: not even a write that waited for its turn while the
// process was stopped. The first such write calls end. Reads go on.
func fencedConfig(config *rest.Config, fence func() error, end func()) *rest.Config {
	fenced := rest.CopyConfig(config)
	fenced.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &fencedTransport{next: next, fence: fence, end: end}
	})
	return fenced
}

// fencedTransport asks the fence before each write, as late as a client can.
type fencedTransport struct {
	next  http.RoundTripper
	fence func() error
	end   func()
}

// RoundTrip sends a request, or returns the error of the closed fence.
func (t *fencedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := t.refuse(request.Method); err != nil {
		if request.Body != nil {
			_ = request.Body.Close() // a RoundTripper closes the body, whatever it returns
		}
		return nil, err
	}
	return t.next.RoundTrip(request)
}

// refuse returns why a request of this method may not be sent; nil when it may.
func (t *fencedTransport) refuse(method string) error {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	err := t.fence()
	if err != nil {
		t.end()
	}
	return err
}

// WrappedRoundTripper gives client-go the transport below.
func (t *fencedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }
