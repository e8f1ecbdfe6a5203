// Package manual makes docs/dashboard.md and the picture in the README: the guide's text
// with frames that the program draws, and with the keys from the table that dispatches them.
//
//	In:   the text of the guide, frames, the table of keys
//	Out:  Markdown, SVG
//
// Pure. What the frames show is the tests' affair: they make worlds and press keys.
package manual
