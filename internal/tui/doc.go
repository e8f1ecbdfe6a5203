// Package tui is the dashboard: the frame round the screens, and the program that
// shows it in a terminal.
//
//	In:   keys, the mouse, sizes, snapshots of the cluster, log lines, a clock
//	Out:  frames; requests to the world (do this, follow these logs, end)
//
// App is the dashboard without a terminal: events in, cells out. Program runs an App
// in one. Screens are handed in, so that this package knows none of them.
//
// # Invariants
//
//   - App is pure: the same events give the same frames and requests. It has no
//     clock; Tick says what time it is.
//   - What a key does stands in the table of keys and nowhere else.
//   - Nothing that changes the cluster happens without a yes, or with --readonly.
//
// # Concurrency
//
// An App belongs to one goroutine. Program carries requests out in others, and
// their ends come back as messages.
package tui
