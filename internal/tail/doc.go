// Package tail follows the logs of several pods at once, and keeps their last
// lines: what the dashboard shows of them.
//
//	In:   pods, the API server's log streams
//	Out:  View: lines in the order in which they arrived, and how each stream stands
//
// # Invariants
//
//   - At most MaxPods streams are open and MaxLines lines kept.
//   - A View never changes after it was handed out.
//   - A stream that breaks is opened again where it ended: no line comes twice, and none is left out that the node still has.
//   - Lines hold no control characters: what a program wrote cannot take the terminal over.
//
// # Concurrency
//
// All methods may be called by any goroutine; Next by one at a time.
package tail
