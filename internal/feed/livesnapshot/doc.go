// Package livesnapshot keeps a snapshot.Board up to date with watches and returns Snapshots of it, which the dashboard shows.
//
//	In:   watches of nodes, pods, jobs, PodGroups, queues, hypernodes, priority classes, events,
//	      the scheduler's configuration
//	Out:  Snapshots, at most five a second, and only on request
//
// # Invariants
//
//   - Nothing is polled, except that a request is sent to the server after some seconds without any data. A lost
//     connection is therefore detected within ten seconds, regardless of the proxies between client and server. A watch
//     that is silent for longer than the interval of the server's bookmarks is restarted. Each object is reduced to the
//     needed fields on arrival.
//   - Only objects that the user may see are requested. If the user may not see a kind in all namespaces, only the
//     user's own namespace is watched, and the Snapshot contains a note about this.
//   - While the connection is lost, the data remains, and the Snapshot contains the time of the loss. The watches
//     reconnect by themselves.
//
// # Concurrency
//
// Reflectors write under a lock. Only one goroutine at a time may call Next.
package livesnapshot
