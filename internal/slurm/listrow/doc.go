// Package listrow represents a job in the way of Slurm's listing commands: one row for each job, for each element of
// an array, or for all pending elements of an array in the same state.
//
//	In:   a Job and, as far as they were read, its PodGroup, queue, priority and pods; the current time
//	Out:  rows, and the text of everything that squeue, sacct and scontrol print about a row
//
// A pod counts as one of Slurm's nodes in numbers of nodes, but node names are the names of Kubernetes nodes. The
// package is pure.
package listrow
