// Package daemon runs the parts of the system against one API server: the
// scheduler's loop, the controllers, admission; with leader election, health,
// metrics and an orderly stop.
//
//	In:   Options: a rest.Config and the names of the components
//	Out:  whatever the components write; the HTTP endpoints
//
// # Invariants
//
//   - A term of leadership begins with nothing: its model is built from a full
//     list of the API's truth before the first cycle, and thrown away at its end.
//   - When leadership ends, for whatever cause, writing ends first; the lease is
//     given back only after the last write.
//   - A cycle, its assumption and its hand-over to the outbox happen in one
//     goroutine, one after the other.
//
// # Concurrency
//
// Run starts every goroutine and returns only when all of them have ended.
package daemon
