// Package guide generates docs/dashboard.md and the image in the README. They contain the guide's text, frames drawn
// by the program, and the keys from the table that dispatches them.
//
//	In:   the text of the guide, frames, the table of keys
//	Out:  Markdown, SVG
//
// Pure. The tests produce the frames by creating worlds (clusters) and pressing keys.
package guide
