// Package widget is what screens are made of: boxes, tables, bars, heat maps and
// lines of history, drawn on a canvas.
//
//	In:   rows and numbers, a theme
//	Out:  cells
//
// A Table draws only the rows that are seen, whatever number it holds, and keeps to
// the row under the cursor by its id when rows come, go or change places.
package widget
