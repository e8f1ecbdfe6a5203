// Package theme says what things look like: which colour a role has, which glyphs
// draw a box, a bar, a heat map.
//
//	In:   the name of a theme, how many colours the terminal has, whether it shows
//	      more than ASCII
//	Out:  Theme
//
// The colours of states are the set of Okabe and Ito (Color Universal Design, 2008),
// which people who do not see red, green or blue tell apart. Colour is never the
// only sign of anything: a state has its code, heat its density.
package theme
