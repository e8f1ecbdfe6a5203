// Package canvas provides a grid of terminal cells for drawing.
//
//	In:   runes, a position, a style
//	Out:  lines of text, plain or with escape sequences
//
// # Invariants
//
//   - Drawing is clipped to the canvas. So no line of a frame is wider than the screen, and a frame has exactly as many
//     lines as the screen.
//   - A wide rune takes two cells, and half of one is never shown. Control characters and runes without width are
//     dropped, so that the names of users' jobs cannot move the cursor. Widths do not depend on the locale.
//   - A canvas for ASCII holds nothing else.
//
// # Concurrency
//
// A canvas and its parts share cells and belong to one goroutine.
package canvas
