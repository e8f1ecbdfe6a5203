package traceexport

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/vc-batch/vc/internal/jobtrace"
)

// scope names the package that made the spans.
const scope = "github.com/vc-batch/vc/internal/jobtrace"

// spanMaker converts spans to the spans of OpenTelemetry's library. Only the library's tracer can make them.
type spanMaker struct {
	tracer trace.Tracer
	made   *collector
}

func newSpanMaker(about *resource.Resource) *spanMaker {
	made := &collector{}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.AlwaysSample()), sdktrace.WithIDGenerator(givenIDs{}),
		sdktrace.WithSpanProcessor(made), sdktrace.WithResource(about))
	return &spanMaker{tracer: provider.Tracer(scope), made: made}
}

// newSpans returns the spans of traces.
func (m *spanMaker) newSpans(batch []jobtrace.Trace) []sdktrace.ReadOnlySpan {
	m.made.spans = nil
	for i := range batch {
		t := &batch[i]
		for j := range t.Spans {
			m.addSpan(t.ID, &t.Spans[j])
		}
	}
	return m.made.spans
}

// addSpan makes a span and lets the collector receive it.
func (m *spanMaker) addSpan(traceID trace.TraceID, s *jobtrace.Span) {
	ctx := context.WithValue(context.Background(), idsKey{}, ids{traceID, s.ID})
	options := []trace.SpanStartOption{trace.WithTimestamp(s.Start), trace.WithAttributes(s.Attributes...)}
	if s.Parent.IsValid() {
		parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: s.Parent, TraceFlags: trace.FlagsSampled})
		ctx = trace.ContextWithSpanContext(ctx, parent)
	}
	_, span := m.tracer.Start(ctx, s.Name, options...)
	for _, event := range s.Events {
		span.AddEvent(event.Name, trace.WithTimestamp(event.At), trace.WithAttributes(event.Attributes...))
	}
	if s.Error != "" {
		span.SetStatus(codes.Error, s.Error)
	}
	span.End(trace.WithTimestamp(s.End))
}

// ids are the IDs of the span that is being made.
type ids struct {
	trace trace.TraceID
	span  trace.SpanID
}

// idsKey is the key of ids in a context.
type idsKey struct{}

// givenIDs generates the IDs that the context contains.
type givenIDs struct{}

var _ sdktrace.IDGenerator = givenIDs{}

// NewIDs implements sdktrace.IDGenerator.
func (givenIDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	given, _ := ctx.Value(idsKey{}).(ids)
	return given.trace, given.span
}

// NewSpanID implements sdktrace.IDGenerator.
func (givenIDs) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	given, _ := ctx.Value(idsKey{}).(ids)
	return given.span
}

// collector is a span processor that collects the spans that end.
type collector struct{ spans []sdktrace.ReadOnlySpan }

var _ sdktrace.SpanProcessor = (*collector)(nil)

// OnStart implements sdktrace.SpanProcessor.
func (*collector) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd implements sdktrace.SpanProcessor.
func (c *collector) OnEnd(span sdktrace.ReadOnlySpan) { c.spans = append(c.spans, span) }

// ForceFlush implements sdktrace.SpanProcessor.
func (*collector) ForceFlush(context.Context) error { return nil }

// Shutdown implements sdktrace.SpanProcessor.
func (*collector) Shutdown(context.Context) error { return nil }
