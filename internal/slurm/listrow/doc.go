// Package listrow represents a job as Slurm's listing commands do, by one row for each job, for each element of an
// array, or for all pending elements of an array that are in the same state.
//
//	In:   a Job and, as far as they were read, its PodGroup, queue, priority and pods; the current time
//	Out:  rows, and the texts that squeue, sacct and scontrol print about a row
//
// In numbers of nodes, a pod counts as one of Slurm's nodes, but node names are the names of Kubernetes nodes. The
// package is pure.
package listrow
