// Package tuitest tries the dashboard without a terminal: goldens of frames, and
// scripts of keys.
//
//	In:   screens, worlds (clusters at a fixed moment), text files
//	Out:  frames and requests as text, compared with files; -rewrite writes them anew
//
// Clock, size and theme are set, so that the same program gives the same files on
// every machine.
package tuitest
