// Package record is a job as Slurm's listing commands see it: a row for each job, for each element of an array, or for all elements of an array that
// wait alike.
//
//	In:   a Job, and as far as they were read its PodGroup, queue, priority and pods; a moment
//	Out:  rows, and everything that squeue, sacct and scontrol say of a row, as text
//
// A pod counts as one of Slurm's nodes where nodes are counted; where nodes are named, they are Kubernetes' nodes. Pure.
package record
