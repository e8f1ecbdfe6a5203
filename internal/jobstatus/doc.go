// Package jobstatus describes one job for users: what it requests, its progress, and the reason why it is not running.
// Both the command line and the dashboard use it, so they show the same text.
//
//	In:   a Job and, as far as the user may read them, its PodGroup, pods and events
//	Out:  numbers (Phase, CountBoundPods, RequestedGPUs), the reason (Why), the lines of `vcctl job explain` (Report)
//
// # Invariants
//
//   - Pure: the results depend only on the objects and the time passed in.
//   - The scheduler's explanation comes first, then problems of pods that have a node, then conditions, then the
//     controller's message.
package jobstatus
