// Package guide generates docs/dashboard.md and the picture in the README: the guide's text with frames drawn by the
// program, and with the keys from the table that dispatches them.
//
//	In:   the text of the guide, frames, the table of keys
//	Out:  Markdown, SVG
//
// Pure. The tests produce the frames: they create worlds (clusters) and press keys.
package guide
