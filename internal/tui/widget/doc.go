// Package widget provides the building blocks of screens: boxes, tables, bars, heat maps and history lines, drawn on a
// canvas.
//
//	In:   rows and numbers, a theme
//	Out:  cells
//
// A Table draws only its visible rows, however many it holds. It identifies the row under the cursor by its ID, so that
// the cursor stays on it when rows appear, disappear or move.
package widget
