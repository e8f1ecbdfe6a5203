// Package tui implements the dashboard: the frame around the screens, and the program that shows it in a terminal.
//
//	In:   keys, the mouse, sizes, snapshots of the cluster, log lines, a clock
//	Out:  frames; requests to carry out outside (run an action, follow logs, quit)
//
// App is the dashboard without a terminal: events in, cells out. Program runs an App in a terminal. The screens are
// passed in, so this package does not depend on them.
//
// # Invariants
//
//   - App is pure: the same events give the same frames and requests. It has no clock; Tick sets the time.
//   - The effect of every key is defined in the table of keys only.
//   - Nothing changes the cluster without a confirmation, and nothing at all with --readonly.
//
// # Concurrency
//
// An App belongs to one goroutine. Program carries out requests in other goroutines, and their results return as
// messages.
package tui
