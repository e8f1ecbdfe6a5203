// Package snapshot is what the dashboard knows: nodes, queues, jobs, pods and
// events, as plain data that is true of one moment.
//
//	In:   API objects, one by one (Board), or all at once (Of)
//	Out:  Snapshot
//
// # Invariants
//
//   - A Snapshot never changes. What did not change since the last one is
//     shared with it: the same pointer is the same row.
//   - Pure: the same objects and the same time give the same Snapshot.
//   - Numbers come from where the command line has them from: internal/account,
//     internal/nodes, internal/queues.
//
// # Concurrency
//
// A Snapshot may be read by many goroutines. A Board belongs to one.
package snapshot
