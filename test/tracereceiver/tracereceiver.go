// Package tracereceiver is a collector of OpenTelemetry for tests. It receives spans by OTLP over gRPC and keeps them.
package tracereceiver

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
)

// Receiver is a collector that listens on this machine.
type Receiver struct {
	collectorv1.UnimplementedTraceServiceServer
	address string

	mu       sync.Mutex
	spans    []*tracev1.Span
	resource []*commonv1.KeyValue
	requests int
	failures []error
}

// Start starts a collector, which ends with the test.
func Start(t *testing.T) *Receiver {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Receiver{address: listener.Addr().String()}
	server := grpc.NewServer()
	collectorv1.RegisterTraceServiceServer(server, r)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		<-ended
	})
	return r
}

// URL returns the endpoint of the collector.
func (r *Receiver) URL() string { return "http://" + r.address }

// FailWith lets the next requests fail with these errors, after their spans have been kept: the answer is lost.
func (r *Receiver) FailWith(errs ...error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = errs
}

// Export implements collectorv1.TraceServiceServer.
func (r *Receiver) Export(_ context.Context, request *collectorv1.ExportTraceServiceRequest) (*collectorv1.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	for _, ofResource := range request.GetResourceSpans() {
		r.resource = ofResource.GetResource().GetAttributes()
		for _, ofScope := range ofResource.GetScopeSpans() {
			r.spans = append(r.spans, ofScope.GetSpans()...)
		}
	}
	if len(r.failures) > 0 {
		err := r.failures[0]
		r.failures = r.failures[1:]
		return nil, err
	}
	return &collectorv1.ExportTraceServiceResponse{}, nil
}

// Spans returns the received spans.
func (r *Receiver) Spans() []*tracev1.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.spans)
}

// Requests returns the number of requests.
func (r *Receiver) Requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

// Resource returns the attributes of the sender.
func (r *Receiver) Resource() []*commonv1.KeyValue {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.resource)
}

// WaitForSpans returns the received spans when there are at least n.
func (r *Receiver) WaitForSpans(t *testing.T, n int) []*tracev1.Span {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		spans := r.Spans()
		if len(spans) >= n {
			return spans
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d spans were received, want %d", len(spans), n)
		}
	}
}
