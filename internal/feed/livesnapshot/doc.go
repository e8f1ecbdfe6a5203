// Package livesnapshot keeps a snapshot.Board up to date with watches and returns Snapshots of it, which the dashboard shows.
//
//	In:   watches of nodes, pods, jobs, PodGroups, queues, hypernodes, priority classes, events,
//	      the scheduler's configuration
//	Out:  Snapshots, at most five a second, and only on request
//
// # Invariants
//
//   - Nothing is polled. Only after some seconds without any data does this package send a request to the server, so it
//     detects a lost connection within ten seconds, whatever is between client and server. A watch that is silent for
//     longer than the interval of the server's bookmarks is restarted. Each object is reduced to the needed fields on
//     arrival.
//   - Only objects that the user may see are requested. If the user may not see a kind in all namespaces, only the
//     user's own namespace is watched, and the Snapshot contains a note about it.
//   - While the connection is lost, the data stays, and the Snapshot contains the time of the loss. The watches
//     reconnect by themselves.
//
// # Concurrency
//
// Reflectors write under a lock. One goroutine may call Next.
package livesnapshot
