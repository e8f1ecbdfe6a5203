// Package snapshot holds the data that the dashboard shows: nodes, queues, jobs, pods and events at one moment, as
// plain values.
//
//	In:   API objects, one by one (Board), or all at once (Of)
//	Out:  Snapshot
//
// # Invariants
//
//   - A Snapshot never changes. It shares unchanged rows with the previous Snapshot: the same pointer is the same row.
//   - The package is pure: the same objects and the same time give the same Snapshot.
//   - Numbers come from the packages that the command line uses: internal/jobstatus,
//     internal/nodecapacity, internal/queueusage.
//
// # Concurrency
//
// Many goroutines may read a Snapshot. Only one may use a Board.
package snapshot
