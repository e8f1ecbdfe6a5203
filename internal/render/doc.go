// Package render formats values for a terminal: tables, bars, durations and colours. It is pure, which means that the
// same value, width and time always give the same text.
//
//	In:   values, a width in terminal cells, a time, whether to use colour
//	Out:  text
//
// Widths are counted in terminal cells, not bytes, so a wide rune takes two. Colour never carries information that the
// text lacks.
package render
