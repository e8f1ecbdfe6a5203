// Package traceexport sends the traces of jobs to a collector of OpenTelemetry, by OTLP over gRPC.
//
//	In:   traces of ended jobs (Add); the endpoint, from an option or from OpenTelemetry's environment variables
//	Out:  requests to the collector; the metric vc_job_traces_total
//
// # Invariants
//
//   - Add never blocks. If the queue is full, the trace is dropped and counted.
//   - A trace keeps the IDs that package jobtrace computed.
//   - A trace is sent at most once by each process. The library repeats a request that the collector did not answer,
//     with the same IDs.
//
// # Concurrency
//
// Any goroutine may call Add. One goroutine calls Run.
package traceexport
