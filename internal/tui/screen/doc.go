// Package screen is the contract between the dashboard and its screens: what a
// screen is told, what it may ask for, and the table of keys.
//
//	In:   Context (what is known and how it is shown), Event
//	Out:  Effect: what is to happen, as data; cells on a canvas; text
//
// # Invariants
//
//   - A screen does nothing by itself: it changes its own state and returns effects.
//   - Drawing changes nothing but where the screen is scrolled to, and what stands beside
//     a list for the row under the cursor: the same state, size and Context give the same
//     cells, however often they were drawn before.
//   - Every key of a screen stands in its table, with a name and a help text. The
//     table dispatches, and help, footer and docs/dashboard.md are made from it.
//
// # Concurrency
//
// Screens belong to the goroutine of the program. Effects that take time (Run) are
// carried out elsewhere and come back as events.
package screen
