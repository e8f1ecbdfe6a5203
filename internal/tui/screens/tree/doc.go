// Package tree implements the screen that shows a job as a tree: the object that created it, the job, its PodGroup, its
// tasks and their pods.
//
//	In:   snapshots, keys; the UID of a job
//	Out:  a frame, effects
//
// Pure.
package tree
