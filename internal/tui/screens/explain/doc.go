// Package explain is the screen that says why a job waits: at which step it stops,
// why each node cannot take it, and what would start it. The words are those of
// `vcctl job explain`, and come from package account; what would help was tried by
// the scheduler on its own model.
//
//	In:   one snapshot.Job with the explanation on its PodGroup
//	Out:  cells
package explain
