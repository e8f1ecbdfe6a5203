package apiclient

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
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// Writer sends writes for which only success or failure matters. client-go's clients look up the kind and version of
// every request and decode the returned object, which the caller of a Writer does not need. Connections, certificates,
// tokens and impersonation still come from client-go.
type Writer struct {
	transport http.RoundTripper
	base      url.URL
	header    http.Header // headers common to all requests
	timeout   time.Duration
}

// WriteRequest is one write. Its path consists of names of Kubernetes objects, so the path needs no escaping.
type WriteRequest struct {
	Method, Path, Query string
	ContentType         string
	Body                []byte
	// Resource and Name describe the object in an error whose response has no text.
	Resource schema.GroupResource
	Name     string
}

// errorMost is the maximum number of bytes read from an error response.
const errorMost = 64 << 10

// NewWriter creates a Writer for a config. The timeout of the config limits each write; 0 means no limit.
func NewWriter(config *rest.Config) (*Writer, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("create a transport to the API server: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("API server address: %w", err)
	}
	return &Writer{transport: transport, base: *base, timeout: config.Timeout, header: http.Header{
		"Accept":     {runtime.ContentTypeProtobuf + ", " + runtime.ContentTypeJSON},
		"User-Agent": {cmp.Or(config.UserAgent, rest.DefaultKubernetesUserAgent())},
	}}, nil
}

// Send sends a write. It returns nil, an *apierrors.StatusError from the server, or a transport error.
func (w *Writer) Send(ctx context.Context, r *WriteRequest) error {
	if w.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.timeout)
		defer cancel()
	}
	response, err := w.transport.RoundTrip(w.newRequest(ctx, r))
	if err != nil {
		return fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode >= http.StatusOK && response.StatusCode <= http.StatusPartialContent {
		_, _ = io.Copy(io.Discard, response.Body) // read the rest, so that the connection can be reused
		return nil
	}
	return errorFromResponse(r, response)
}

func (w *Writer) newRequest(ctx context.Context, r *WriteRequest) *http.Request {
	to := w.base
	to.Path = strings.TrimSuffix(to.Path, "/") + r.Path
	to.RawQuery = r.Query
	header := make(http.Header, len(w.header)+3) // space for the headers that the transport adds
	for name, values := range w.header {
		header[name] = values
	}
	header["Content-Type"] = []string{r.ContentType}
	body := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(r.Body)), nil }
	first, _ := body()
	return (&http.Request{
		Method: r.Method, URL: &to, Host: to.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: first, GetBody: body, ContentLength: int64(len(r.Body)),
	}).WithContext(ctx)
}

// errorFromResponse returns the error that the server sent as a Status. If the response contains no Status, for example
// because a proxy sent it or a queue was full, errorFromResponse creates one from the HTTP status code.
func errorFromResponse(r *WriteRequest, response *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(response.Body, errorMost))
	if err != nil {
		return fmt.Errorf("%s %s: answer %s: %w", r.Method, r.Path, response.Status, err)
	}
	if obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil); err == nil {
		if status, ok := obj.(*metav1.Status); ok && status.Status != metav1.StatusSuccess {
			return &apierrors.StatusError{ErrStatus: *status}
		}
	}
	after, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	return apierrors.NewGenericServerResponse(response.StatusCode, r.Method, r.Resource, r.Name, strings.TrimSpace(string(text)), after, true)
}
