package traceexport

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/jobtrace"
	"github.com/vc-batch/vc/test/tracereceiver"
)

// newTrace returns the trace of a job that failed after a minute, of which it was held for the last half.
func newTrace(uid types.UID) jobtrace.Trace {
	begin := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j", UID: uid, CreationTimestamp: metav1.NewTime(begin)}}
	job.Status.State = batchv1alpha1.JobState{Phase: batchv1alpha1.Failed, Message: "it failed", LastTransitionTime: metav1.NewTime(begin.Add(time.Minute))}
	return jobtrace.Compute(job, jobtrace.History{{Begin: begin.Add(30 * time.Second)}})
}

const uid = types.UID("7b0c7f0e-52a5-4a51-9c3c-0c6f2b0a7a11")

// run lets an exporter send until the test ends, and returns a function that ends it earlier.
func run(t *testing.T, e *Exporter) context.CancelFunc {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.Run(ctx)
	}()
	end := func() {
		stop()
		<-ended
	}
	t.Cleanup(end)
	return end
}

// countOf returns the number of traces with an outcome.
func countOf(t *testing.T, outcome string) float64 {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == "vc_job_traces_total" && m.GetLabel()[0].GetValue() == outcome {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

// describe returns a span in one line.
func describe(s *tracev1.Span) string {
	return fmt.Sprintf("%s trace=%s parent=%t %d s %s", s.GetName(), hex.EncodeToString(s.GetTraceId()), len(s.GetParentSpanId()) > 0,
		(s.GetEndTimeUnixNano()-s.GetStartTimeUnixNano())/uint64(time.Second), s.GetStatus().GetMessage())
}

func TestACollectorReceivesTheTrace(t *testing.T) {
	receiver := tracereceiver.Start(t)
	t.Setenv(endpointVariable, receiver.URL())
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "k8s.cluster.name=test")
	e, err := New(t.Context(), Options{Log: logr.Discard()})
	if err != nil || e == nil {
		t.Fatalf("exporter %v, %v", e, err)
	}
	before := countOf(t, sent)
	run(t, e)
	e.Add(newTrace(uid))
	var got []string
	for _, s := range receiver.WaitForSpans(t, 2) {
		got = append(got, describe(s))
	}
	want := []string{
		"job trace=7b0c7f0e52a54a519c3c0c6f2b0a7a11 parent=false 60 s it failed",
		"held trace=7b0c7f0e52a54a519c3c0c6f2b0a7a11 parent=true 30 s ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	about := fmt.Sprint(receiver.Resource())
	for _, part := range []string{"vc-controllers", "service.version", "k8s.cluster.name"} {
		if !strings.Contains(about, part) {
			t.Errorf("the resource lacks %s: %s", part, about)
		}
	}
	if n := countOf(t, sent) - before; n != 1 {
		t.Errorf("%v traces are counted as sent", n)
	}
}

func TestARepeatedRequestHasTheSameIDs(t *testing.T) {
	receiver := tracereceiver.Start(t)
	receiver.FailWith(status.Error(codes.Unavailable, "the answer is lost"))
	e, err := New(t.Context(), Options{Endpoint: receiver.URL(), Log: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	run(t, e)
	e.Add(newTrace(uid))
	ids := map[string]bool{}
	for _, s := range receiver.WaitForSpans(t, 4) {
		ids[hex.EncodeToString(s.GetTraceId())+"/"+hex.EncodeToString(s.GetSpanId())] = true
	}
	if n := receiver.Requests(); n != 2 || len(ids) != 2 {
		t.Errorf("%d requests with %d different spans, want 2 with 2", n, len(ids))
	}
}

func TestTheRemainingTracesAreSentAtTheEnd(t *testing.T) {
	receiver := tracereceiver.Start(t)
	e, err := New(t.Context(), Options{Endpoint: receiver.URL(), Log: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	const n = 3 * batchSize
	for i := range n {
		e.Add(newTrace(types.UID(fmt.Sprint("job-", i))))
	}
	run(t, e)()
	if got := len(receiver.Spans()); got != 2*n {
		t.Errorf("%d spans were received, want %d", got, 2*n)
	}
}

// stuckClient is a client whose requests take as long as they may.
type stuckClient struct{}

func (stuckClient) ExportSpans(ctx context.Context, _ []sdktrace.ReadOnlySpan) error {
	<-ctx.Done()
	return ctx.Err()
}
func (stuckClient) Shutdown(context.Context) error { return nil }

func TestAFullQueueDropsTraces(t *testing.T) {
	const dropExpected = 10
	failedBefore, before := countOf(t, failed), countOf(t, dropped)
	synctest.Test(t, func(t *testing.T) {
		e := newExporter(stuckClient{}, resource.Empty(), logr.Discard())
		end := run(t, e)
		e.Add(newTrace(uid))
		synctest.Wait() // the first trace is being sent
		begin := time.Now()
		for range queueSize + dropExpected {
			e.Add(newTrace(uid))
		}
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("Add waited for %s", waited)
		}
		end()
		if took := time.Since(begin); took != flushTime {
			t.Errorf("the end took %s, want %s", took, flushTime)
		}
	})
	if n := countOf(t, dropped) - before; n != dropExpected {
		t.Errorf("%v traces are counted as dropped, want %d", n, dropExpected)
	}
	if n := countOf(t, failed) - failedBefore; n != 1 {
		t.Errorf("%v traces are counted as failed, want 1", n)
	}
}

func TestAnUnreachableCollectorDelaysNothing(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections, and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	e, err := New(t.Context(), Options{Endpoint: "http://" + listener.Addr().String(), Log: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	run(t, e)
	begin := time.Now()
	for range 4 * queueSize {
		e.Add(newTrace(uid))
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("%d traces took %s", 4*queueSize, took)
	}
}

func TestNothingIsSentUnlessAnEndpointIsConfigured(t *testing.T) {
	for _, variable := range []string{endpointVariable, tracesEndpointVariable} {
		t.Setenv(variable, "")
	}
	e, err := New(t.Context(), Options{Log: logr.Discard()})
	if e != nil || err != nil {
		t.Errorf("exporter %v, %v", e, err)
	}
	e.Add(newTrace(uid)) // a nil Exporter discards traces
	e.Run(t.Context())
}

func TestTheEnvironmentDecides(t *testing.T) {
	t.Parallel()
	const url = "http://collector:4317"
	for _, tc := range []struct {
		name, endpoint string
		env            map[string]string
		want           decision
	}{
		{"nothing", "", nil, decision{}},
		{"flag", url, nil, decision{enabled: true}},
		{"common variable", "", map[string]string{endpointVariable: url}, decision{enabled: true}},
		{"variable for traces", "", map[string]string{tracesEndpointVariable: url}, decision{enabled: true}},
		{"disabled", "", map[string]string{endpointVariable: url, disabledVariable: "TRUE"}, decision{}},
		{"no exporter", "", map[string]string{endpointVariable: url, exporterVariable: "none"}, decision{}},
		{"flag overrides the variables", url, map[string]string{disabledVariable: "true"}, decision{enabled: true}},
		{"grpc for traces only", "", map[string]string{endpointVariable: url, protocolVariable: "http/protobuf", tracesProtocolVariable: "grpc"}, decision{enabled: true}},
		{
			"another protocol", "", map[string]string{endpointVariable: url, protocolVariable: "http/protobuf"},
			decision{problem: "the environment requires the protocol http/protobuf, but traces can only be sent by grpc"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := decide(tc.endpoint, func(name string) string { return tc.env[name] }); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestAnEndpointIsAURL(t *testing.T) {
	t.Parallel()
	for text, isValid := range map[string]bool{
		"http://collector:4317": true, "https://collector.example.com": true,
		"collector:4317": false, "grpc://collector:4317": false, "http://": false, "http://a b": false,
	} {
		if _, err := ParseEndpoint(text); (err == nil) != isValid {
			t.Errorf("%s: %v", text, err)
		}
	}
}
