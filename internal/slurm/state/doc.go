// Package state translates a Job to Slurm's terms: the state code and its long name, the reason why the job is waiting
// or how it ended, its exit code, and its times and limits in Slurm's formats. It does the same for each element of an
// array.
//
//	In:   a Job and, as far as they are known, its PodGroup, its queue and a summary of its pods; the current time
//	Out:  words and numbers
//
// The pods of ten thousand jobs need not be read to list the jobs, because a Job and its PodGroup are sufficient for
// every job that has not ended. The pods are needed only for the nodes of a job, and to determine how a job failed if
// one of its policies handled the failure. All functions are pure. The tables follow Slurm's manual pages squeue(1) and
// sacct(1).
package state
