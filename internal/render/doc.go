// Package render formats values for a terminal: tables, bars, durations and colours. It is pure: the same value, width
// and moment give the same text.
//
//	In:   values, a width in terminal cells, a moment, whether to use colour
//	Out:  text
//
// Widths are counted in terminal cells, not bytes: a wide rune takes two. Colour never carries information that the
// text lacks.
package render
