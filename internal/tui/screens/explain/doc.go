// Package explain implements the screen that explains why a job waits: the step at which it stops, why each node cannot
// take it, and which changes would start it. `vcctl job explain` has the same texts, from package jobstatus.
// The scheduler has simulated the suggested changes on its own model.
//
//	In:   one snapshot.Job with the explanation on its PodGroup
//	Out:  cells
package explain
