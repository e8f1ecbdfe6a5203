// Package listrow represents jobs as Slurm's listing commands do. There is one row for each job, for each element of an
// array, or for all pending elements of an array that are in the same state.
//
//	In:   a Job and, if they were read, its PodGroup, queue, priority and pods; the current time
//	Out:  rows; the texts that squeue, sacct and scontrol print about a row
//
// Each pod counts as one of Slurm's nodes in numbers of nodes, but node names are the names of Kubernetes nodes. The
// package is pure.
package listrow
