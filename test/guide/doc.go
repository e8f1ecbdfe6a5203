// Package guide generates docs/guides/dashboard.md, docs/reference/dashboard.md and the image in the README. They
// contain text, frames drawn by the program, and the keys from the table that dispatches them.
//
//	In:   the texts of the pages, frames, the table of keys
//	Out:  Markdown, SVG
//
// Pure. The tests produce the frames by creating worlds (clusters) and pressing keys.
package guide
