// Package tuitest tests the dashboard without a terminal, with goldens of frames and scripts of keys.
//
//	In:   screens, worlds (clusters at a fixed moment), text files
//	Out:  frames and requests as text, compared with files; -rewrite writes the files
//
// Clock, size and theme are fixed, so that the same program gives the same files on every machine.
package tuitest
