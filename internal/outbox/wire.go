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

// wire sends writes of which only the verdict matters. client-go's clients build
// and read requests by way of tables of kinds and versions, and decode the object
// that comes back; that is two fifths of what a bind costs us, and here nobody
// looks at the object. What is below (connections, certificates, tokens,
// impersonation) is client-go's.
type wire struct {
	transport http.RoundTripper
	base      url.URL
	header    http.Header // of every request
}

// ask is a write. Names are those of Kubernetes' objects, so a path needs no escape.
type ask struct {
	method, path, query string
	contentType         string
	body                []byte
	// resource and name are for the text of an error without one.
	resource schema.GroupResource
	name     string
}

// errorMost is how much of an error's text is read.
const errorMost = 64 << 10

// newWire makes a wire with connections of its own.
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

// send asks and reads the verdict: nil, an *apierrors.StatusError, or what went wrong on the way.
func (w *wire) send(ctx context.Context, a *ask) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	response, err := w.transport.RoundTrip(w.request(ctx, a))
	if err != nil {
		return fmt.Errorf("%s %s: %w", a.method, a.path, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode >= http.StatusOK && response.StatusCode <= http.StatusPartialContent {
		_, _ = io.Copy(io.Discard, response.Body) // so that the connection can be used again
		return nil
	}
	return errorOf(a, response)
}

func (w *wire) request(ctx context.Context, a *ask) *http.Request {
	to := w.base
	to.Path = strings.TrimSuffix(to.Path, "/") + a.path
	to.RawQuery = a.query
	header := make(http.Header, len(w.header)+3) // room for what the transport adds
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

// errorOf is the server's Status; where it sent none (a proxy, a full queue), one made of the code.
func errorOf(a *ask, response *http.Response) error {
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
