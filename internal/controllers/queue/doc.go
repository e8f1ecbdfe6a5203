// Package queue maintains the state and the counters of queues, and opens and closes them on command.
//
//	In:   watches of queues, PodGroups and commands
//	Out:  status.state and the counters in the status, spec.parent, the closed-by-parent annotation, events, metrics
//
// A queue without a parent gets root as its parent. A queue that was closed because its parent was closed is opened
// again together with its parent.
//
// # Concurrency
//
// One worker reconciles one queue at a time.
package queue
