// Package render says how a value looks in a terminal: tables, bars, durations
// and colours. It decides nothing and asks nobody: the same value, width and
// moment give the same text.
//
//	In:   values, a width in terminal cells, a moment, whether colour is wanted
//	Out:  text
//
// Widths are counted in terminal cells, not bytes: a wide rune takes two.
// Colour is never the only sign of anything.
package render
