// Package widget provides the building blocks of screens: boxes, tables, bars, heat maps and history lines, drawn on a
// canvas.
//
//	In:   rows and numbers, a theme
//	Out:  cells
//
// A Table draws only its visible rows, regardless of how many it holds. It identifies the row under the cursor by the
// row's ID, so that the cursor stays on the row when rows appear, disappear or move.
package widget
