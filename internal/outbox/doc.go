// Package outbox is the scheduler's only writer. It carries out decisions against the API server and reports the writes
// that failed.
//
//	In:   decision.Decisions, one after another, from the scheduler loop
//	Out:  API writes (bindings, evictions, statuses, conditions, events);
//	      model deltas for writes that failed
//
// # Invariants
//
//   - At most one write of an object and kind is in flight. A newer status of the same object replaces a queued one.
//   - The outbox writes nothing after the fence is closed (leadership lost) or the context is done.
//   - Every write is safe to repeat: after a conflict, the outbox reads the pod to see whether an earlier binding
//     succeeded, and a deletion names the pod's UID.
//   - A failed bind or eviction is reported exactly once.
//   - Gangs with the fewest outstanding binds go first, but every fourth bind belongs to the gang that has waited
//     longest, so no gang starves.
//   - While the API server is under pressure, at most one write in governor.Share reports that a gang runs.
//   - Pod events are written only while no bind waits, or slowly when they grow old.
//
// # Concurrency
//
// One goroutine may call Put while Run works. The failure callback runs on Run's workers.
package outbox
