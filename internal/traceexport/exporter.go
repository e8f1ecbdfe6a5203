package traceexport

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/vc-batch/vc/internal/build"
	"github.com/vc-batch/vc/internal/jobtrace"
	"github.com/vc-batch/vc/internal/metrics"
)

const (
	// queueSize is the maximum number of traces that wait to be sent. A trace has a few kilobytes.
	queueSize = 2048
	// batchSize is the maximum number of traces in a request.
	batchSize = 128
	// flushTime is how long the process waits at its end until the remaining traces are sent.
	flushTime = 3 * time.Second
)

// The outcomes of traces.
const (
	sent    = "sent"
	failed  = "failed"
	dropped = "dropped"
)

var traceMetrics metrics.Set

var traces = traceMetrics.NewCounterVec("vc_job_traces_total",
	"Number of traces of ended jobs, by outcome: sent, failed (the collector did not accept it) or dropped (too many waited to be sent).", "outcome")

// Options configures an Exporter.
type Options struct {
	// Endpoint is the URL of the collector. If it is empty, OpenTelemetry's environment variables decide.
	Endpoint string
	// Log receives log entries.
	Log logr.Logger
}

// Exporter sends traces. A nil Exporter discards them.
type Exporter struct {
	queue  chan jobtrace.Trace
	client sdktrace.SpanExporter
	spans  *spanMaker
	log    logr.Logger
	// isFailing is true after a request failed, until one succeeds.
	isFailing bool
}

// New returns an Exporter, or nil if no endpoint is configured. It does not connect to the collector.
func New(ctx context.Context, o Options) (*Exporter, error) {
	d := decide(o.Endpoint, os.Getenv)
	if d.problem != "" {
		o.Log.Info("The traces of jobs are not sent", "reason", d.problem)
	}
	if !d.enabled {
		return nil, nil
	}
	var options []otlptracegrpc.Option
	if o.Endpoint != "" {
		endpoint, err := ParseEndpoint(o.Endpoint)
		if err != nil {
			return nil, fmt.Errorf("endpoint for traces: %w", err)
		}
		options = append(options, otlptracegrpc.WithEndpointURL(endpoint.String()))
	}
	client, err := otlptracegrpc.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("client for traces: %w", err)
	}
	about, err := newResource(ctx)
	if err != nil {
		return nil, err
	}
	return newExporter(client, about, o.Log), nil
}

func newExporter(client sdktrace.SpanExporter, about *resource.Resource, log logr.Logger) *Exporter {
	traceMetrics.Register()
	for _, outcome := range []string{sent, failed, dropped} {
		traces.WithLabelValues(outcome) // a rate needs a series that starts at zero
	}
	return &Exporter{queue: make(chan jobtrace.Trace, queueSize), client: client, spans: newSpanMaker(about), log: log}
}

// newResource describes this program. OpenTelemetry's environment variables override and complete the description.
func newResource(ctx context.Context) (*resource.Resource, error) {
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "vc-controllers"), attribute.String("service.version", build.DescribeProgram().Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("resource for traces: %w", err)
	}
	return about, nil
}

// Add queues a trace. It drops the trace if the queue is full.
func (e *Exporter) Add(t jobtrace.Trace) {
	if e == nil {
		return
	}
	select {
	case e.queue <- t:
	default:
		traces.WithLabelValues(dropped).Inc()
	}
}

// Run sends the queued traces until ctx is done. It then sends the remaining ones, for a short time.
func (e *Exporter) Run(ctx context.Context) {
	if e == nil {
		return
	}
	sending, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(flushTime, stop) })()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case t := <-e.queue:
			e.send(sending, e.takeBatch(t))
		}
	}
	for len(e.queue) > 0 && sending.Err() == nil {
		e.send(sending, e.takeBatch(<-e.queue))
	}
	if err := e.client.Shutdown(sending); err != nil {
		e.log.V(1).Info("Could not shut down the OTLP client", "reason", err.Error())
	}
}

// takeBatch returns a trace and the traces that wait behind it, as many as a request may contain.
func (e *Exporter) takeBatch(first jobtrace.Trace) []jobtrace.Trace {
	batch := []jobtrace.Trace{first}
	for len(batch) < batchSize {
		select {
		case t := <-e.queue:
			batch = append(batch, t)
		default:
			return batch
		}
	}
	return batch
}

// send sends a batch. It logs the first of several consecutive failures.
func (e *Exporter) send(ctx context.Context, batch []jobtrace.Trace) {
	err := e.client.ExportSpans(ctx, e.spans.newSpans(batch))
	outcome := sent
	if err != nil {
		outcome = failed
	}
	traces.WithLabelValues(outcome).Add(float64(len(batch)))
	switch {
	case err != nil && !e.isFailing && ctx.Err() == nil:
		e.log.Error(err, "Traces of jobs cannot be sent")
	case err == nil && e.isFailing:
		e.log.Info("Traces of jobs are sent again")
	}
	e.isFailing = err != nil
}
