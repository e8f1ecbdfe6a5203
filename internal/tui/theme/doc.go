// Package theme defines how the dashboard looks: the colour of each role, and the glyphs for boxes, bars and heat maps.
//
//	In:   the name of a theme, the number of colours of the terminal, whether it supports
//	      more than ASCII
//	Out:  Theme
//
// The colours of states are the set of Okabe and Ito (Color Universal Design, 2008), which people with colour blindness
// can distinguish. Colour never carries information alone: a state has its code, heat its density.
package theme
