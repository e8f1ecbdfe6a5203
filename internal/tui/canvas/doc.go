// Package canvas is a grid of terminal cells that screens draw into.
//
//	In:   runes, a place, a style
//	Out:  lines of text, plain or with escapes
//
// # Invariants
//
//   - Nothing drawn leaves its canvas: what would stand outside is cut. So no line
//     of a frame is wider than the screen, and a frame has as many lines as it.
//   - A wide rune takes two cells; half of one is never shown. Control characters
//     and runes without width are left out, so that what users call their jobs
//     cannot move the cursor. Widths do not depend on the locale.
//   - A canvas for ASCII holds nothing else.
//
// # Concurrency
//
// A canvas and its parts share cells and belong to one goroutine.
package canvas
