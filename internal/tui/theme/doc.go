// Package theme defines the appearance of the dashboard: the colour of each role, and the glyphs for boxes, bars and
// heat maps.
//
//	In:   the name of a theme, the number of colours of the terminal, whether it supports
//	      more than ASCII
//	Out:  Theme
//
// The colours of states are those of Okabe and Ito (Color Universal Design, 2008), which people with colour blindness
// can distinguish. Information is never conveyed by colour alone: a state also has its code, and heat its density.
package theme
