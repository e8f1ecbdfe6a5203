// Package podlogs follows the logs of several pods at once and keeps their last lines, which the dashboard shows. Its
// type Position is used by all readers that reopen a log where it broke off.
//
//	In:   pods, the API server's log streams
//	Out:  View: lines in order of arrival, and the state of each stream
//
// # Invariants
//
//   - At most MaxPods streams are open, and at most MaxLines lines are kept.
//   - A View never changes after it has been returned.
//   - A broken stream is reopened where it ended: no line appears twice, and no line is missing that the node still
//     has.
//   - Lines hold no control characters, so a program's output cannot take over the terminal.
//
// # Concurrency
//
// Any goroutine may call the methods, but only one at a time may call Next.
package podlogs
