// Package outbox contains the only component of the scheduler that writes to the API server. It carries out decisions
// and reports the writes that failed.
//
//	In:   a sequence of decision.Decisions from the scheduler loop
//	Out:  API writes (bindings, evictions, statuses, conditions, events);
//	      model deltas for writes that failed
//
// # Invariants
//
//   - For any object, at most one write of each kind is in flight. A newer status of the same object replaces a
//     queued one.
//   - The outbox writes nothing after the fence is closed (leadership was lost) or the context is done.
//   - Every write is safe to repeat: after a conflict, the outbox reads the pod to find out whether an earlier
//     binding succeeded, and a deletion specifies the pod's UID.
//   - A failed bind or eviction is reported exactly once.
//   - Gangs with the fewest outstanding binds go first. However, every fourth bind belongs to the gang that has
//     waited longest, so that no gang starves.
//   - While the API server is under pressure, at most one write in backpressure.Share reports that a gang is running.
//   - Pod events are written only while no bind is waiting, or slowly once they have become old.
//
// # Concurrency
//
// Only one goroutine at a time may call Put. It may do so while Run is running. The failure callback runs on Run's
// workers.
package outbox
