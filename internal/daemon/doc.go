// Package daemon runs the components of the system against one API server: the scheduler, the controllers and
// admission. It provides leader election, health checks, metrics and an orderly shutdown.
//
//	In:   Options: a rest.Config and the names of the components
//	Out:  the writes of the components; the HTTP endpoints
//
// # Invariants
//
//   - A term of leadership starts without state. The model is built from a full list of the API objects before the
//     first cycle, and discarded at the end of the term.
//   - When leadership ends, for whatever reason, writing stops first. The lease is released only after the last write.
//   - A cycle, the assumption of its decisions in the model, and their hand-over to the outbox happen one after the
//     other in a single goroutine.
//
// # Concurrency
//
// Run starts every goroutine and returns only after all of them have ended.
package daemon
