// Package state says of a Job what Slurm would say of it: the state code and its long name, why it waits or how it ended, exit code, times and
// limits in Slurm's forms, and the same of each element of an array.
//
//	In:   a Job, and as far as they are known its PodGroup, its queue and a summary of its pods; a moment
//	Out:  words and numbers
//
// A list of ten thousand jobs needs no pods: what Job and PodGroup tell is enough for every job that is under way. Only how a job failed whose
// policies answered the failure, and on which nodes it is, stands on pods alone. Everything here is pure. The tables are those of Slurm's manual
// pages squeue(1) and sacct(1), as far as a Job can be in those states.
package state
