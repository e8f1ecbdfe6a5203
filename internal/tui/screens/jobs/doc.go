// Package jobs implements the screen of all jobs: one row per job, arrays folded, and below the rows an explanation of
// the selected job.
//
//	In:   Snapshot.Jobs, a filter, namespace and "mine"
//	Out:  rows, actions on the marked ones
package jobs
