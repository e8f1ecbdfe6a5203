// Package queue keeps the state and the counts of queues true, and opens and closes them on command.
//
//	In:   watches of queues, PodGroups and commands
//	Out:  status.state and the counts in the status of queues, parent and closed-by-parent, events, metrics
//
// A queue that does not name its parent gets root. A queue closed because its parent was closed is opened again with it.
//
// # Concurrency
//
// One queue is reconciled at a time by one worker.
package queue
