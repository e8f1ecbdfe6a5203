package outbox

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// wire sends writes for which only success or failure matters. client-go's clients look up the kind and version of
// every request and decode the returned object, which the outbox does not need; this is two fifths of the cost of a
// bind. Connections, certificates, tokens and impersonation still come from client-go.
type wire struct {
	transport http.RoundTripper
	base      url.URL
	header    http.Header // headers common to all requests
}

// ask is one write request. Its path consists of names of Kubernetes objects, so it needs no escaping.
type ask struct {
	method, path, query string
	contentType         string
	body                []byte
	// resource and name describe the object in an error whose response has no text.
	resource schema.GroupResource
	name     string
}

// errorMost is the maximum number of bytes read from an error response.
const errorMost = 64 << 10

// newWire creates a wire with its own connections.
func newWire(config *rest.Config) (*wire, error) {
	own := ownConnection(config)
	transport, err := rest.TransportFor(own)
	if err != nil {
		return nil, fmt.Errorf("transport to the API server: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(own)
	if err != nil {
		return nil, fmt.Errorf("address of the API server: %w", err)
	}
	return &wire{transport: transport, base: *base, header: http.Header{
		"Accept":     {protobuf + ", application/json"},
		"User-Agent": {cmp.Or(own.UserAgent, rest.DefaultKubernetesUserAgent())},
	}}, nil
}

// sendRequest sends a request. It returns nil, an *apierrors.StatusError from the server, or a transport error.
func (w *wire) sendRequest(ctx context.Context, a *ask) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	response, err := w.transport.RoundTrip(w.newRequest(ctx, a))
	if err != nil {
		return fmt.Errorf("%s %s: %w", a.method, a.path, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode >= http.StatusOK && response.StatusCode <= http.StatusPartialContent {
		_, _ = io.Copy(io.Discard, response.Body) // so that the connection can be reused
		return nil
	}
	return errorFromResponse(a, response)
}

func (w *wire) newRequest(ctx context.Context, a *ask) *http.Request {
	to := w.base
	to.Path = strings.TrimSuffix(to.Path, "/") + a.path
	to.RawQuery = a.query
	header := make(http.Header, len(w.header)+3) // space for the headers that the transport adds
	for name, values := range w.header {
		header[name] = values
	}
	header["Content-Type"] = []string{a.contentType}
	body := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(a.body)), nil }
	first, _ := body()
	return (&http.Request{
		Method: a.method, URL: &to, Host: to.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: first, GetBody: body, ContentLength: int64(len(a.body)),
	}).WithContext(ctx)
}

// errorFromResponse returns the error that the server sent as a Status. If the response contains no Status, for example
// because a proxy sent it or a queue was full, errorFromResponse creates one from the HTTP status code.
func errorFromResponse(a *ask, response *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(response.Body, errorMost))
	if err != nil {
		return fmt.Errorf("%s %s: answer %s: %w", a.method, a.path, response.Status, err)
	}
	if obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil); err == nil {
		if status, ok := obj.(*metav1.Status); ok && status.Status != metav1.StatusSuccess {
			return &apierrors.StatusError{ErrStatus: *status}
		}
	}
	after, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	return apierrors.NewGenericServerResponse(response.StatusCode, a.method, a.resource, a.name, strings.TrimSpace(string(text)), after, true)
}
