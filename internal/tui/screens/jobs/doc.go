// Package jobs implements the screen that lists all jobs, one per row, with arrays folded. Below the rows, it
// explains the state of the selected job.
//
//	In:   Snapshot.Jobs, a filter, namespace and "mine"
//	Out:  rows, actions on the marked ones
package jobs
