// Package queueusage computes the relations between queues: their hierarchy, their usage, and the resources that they borrow
// from each other. The command line and the dashboard share it, so that they show the same numbers.
//
//	In:   Queues with the status that the scheduler and the queue controller write
//	Out:  a Forest with loans, amounts and fractions, and notes as text
//
// # Invariants
//
//   - Pure: the same queues give the same results, in the same order.
//   - The usage of a queue is relative to a configured amount: its capability, or else its deserved resources; never to
//     the share that the scheduler computes at the moment.
//
// # Concurrency
//
// A Forest does not change after NewForest; it is safe for concurrent use.
package queueusage
