// Package jobs is the screen of all jobs: one row a job, arrays folded, and below
// them in words why the selected one waits.
//
//	In:   Snapshot.Jobs, a filter, namespace and "mine"
//	Out:  rows, actions on the marked ones
package jobs
