// Package share says what follows from queues as they are: how they stand under each
// other, what each holds of what it may, and who borrows what of whom. The command line
// and the dashboard show the same numbers because both ask here.
//
//	In:   Queues with the status that the scheduler and the queue controller write
//	Out:  a Forest with its loans, amounts and parts of them, notes in words
//
// # Invariants
//
//   - Pure: the same queues give the same answers, in the same order.
//   - What a queue is measured by is what somebody said: its capability, else what it is
//     said to deserve; never what the scheduler gives it for the moment.
//
// # Concurrency
//
// A Forest is not written after NewForest; it may be read by many goroutines.
package share
