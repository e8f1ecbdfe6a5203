// Package screenapi is the contract between the dashboard and its screens: the events for screens, their effects, and the
// table of keys.
//
//	In:   Context (the data and how to show it), Event
//	Out:  Effect: requested actions, as data; cells on a canvas; text
//
// # Invariants
//
//   - A screen has no side effects: it changes its own state and returns effects.
//   - Drawing changes only the scroll position and the details shown for the row under the cursor. The same state, size
//     and Context give the same cells, however often they are drawn.
//   - Every key of a screen is in its table, with a name and a help text. The table dispatches keys, and help, footer
//     and docs/reference/dashboard.md are generated from it.
//
// # Concurrency
//
// Screens belong to the goroutine of the program. Effects that take time (Run) are carried out in other goroutines, and
// their results return as events.
package screenapi
