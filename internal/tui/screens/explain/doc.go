// Package explain implements the screen that explains why a job waits: the step at which it is stopped, why each node
// cannot take it, and which changes would let it start. Package jobstatus provides the same texts for `vcctl job
// explain`. The scheduler has simulated the suggested changes with its own model.
//
//	In:   one snapshot.Job with the explanation on its PodGroup
//	Out:  cells
package explain
