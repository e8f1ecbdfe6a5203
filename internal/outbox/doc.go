// Package outbox is the scheduler's only writer: it carries out decisions
// against the API server and reports what could not be carried out.
//
//	In:   decision.Decisions, one after another, from the scheduler loop
//	Out:  API writes (bindings, evictions, statuses, conditions, events);
//	      model deltas for writes that failed
//
// # Invariants
//
//   - At most one write an object and kind is in flight; a newer status of the
//     same object replaces one that still waits.
//   - Nothing is written once the fence is closed (leadership lost) or the
//     context is done.
//   - Every write may be repeated: a binding that had in truth succeeded is
//     recognised by reading the pod, a deletion names the pod's UID.
//   - A bind or an eviction that is given up is reported exactly once.
//   - Gangs with the fewest binds outstanding go first, but every fourth bind
//     belongs to the gang that has waited longest, so none starves.
//   - Under pressure of the API server, that a gang runs is told with one write
//     in governor.Share.
//   - Pod events leave only while no bind waits, or slowly when they grow old.
//
// # Concurrency
//
// Put may be called by one goroutine while Run works; the failure callback is
// called from Run's workers.
package outbox
