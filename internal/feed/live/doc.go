// Package live keeps a snapshot.Board up to date by watches, and hands out
// Snapshots of it: what the dashboard shows.
//
//	In:   watches of nodes, pods, jobs, PodGroups, queues, hypernodes, priority classes, events,
//	      what the scheduler says of its configuration
//	Out:  Snapshots, at most five a second, and only for who asks for the next
//
// # Invariants
//
//   - Nothing is polled; only when nothing was heard for some seconds, the server is
//     asked whether it is there: what is silent is told from what is lost within ten
//     seconds, whatever lies between. A watch that says nothing for longer than the
//     server's bookmarks are apart is set up again. An object is cut down as it arrives; the whole is not kept.
//   - Only what the user may see is asked for: who may not see a kind in all
//     namespaces gets that of the own one, and the Snapshot says so.
//   - What is known stays while the connection is lost; the Snapshot says since
//     when. The watches come back by themselves.
//
// # Concurrency
//
// Reflectors write under a lock; Next may be called by one goroutine.
package live
