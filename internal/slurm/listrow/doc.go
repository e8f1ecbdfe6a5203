// Package listrow represents a job as Slurm's listing commands do: one row for each job, for each element of an array, or
// for all pending elements of an array that are in the same state.
//
//	In:   a Job and, if they were read, its PodGroup, queue, priority and pods; the current time
//	Out:  rows, and the texts that squeue, sacct and scontrol print about a row
//
// Numbers of nodes count each pod as one of Slurm's nodes, but node names are those of Kubernetes nodes. The package is
// pure.
package listrow
