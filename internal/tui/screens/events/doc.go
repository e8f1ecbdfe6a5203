// Package events is the screen Events: the events of the cluster, the newest first.
//
//	In:   snapshots, keys
//	Out:  a frame, effects
//
// Pure.
package events
