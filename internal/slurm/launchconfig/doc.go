// Package launchconfig defines the interface between Slurm's commands, which submit jobs, and the program vc-step
// inside the pods. The interface consists of the job's specification for the launcher, the place where the
// specification is stored, and the report that the launcher writes when the job ends. The package also computes
// everything that follows from the specification: the node number of each pod, the environment of the script, the
// distribution of tasks over nodes, and the names of output files.
//
//	In:   Spec (a file next to the script), Pod (downward API)
//	Out:  Place, environment, layout of tasks, file names; Report
//
// # Invariants
//
//   - All functions are pure. The package imports only the standard library and package hostlist, which keeps
//     vc-step small.
//   - All pods of a job compute the same nodes in the same order.
package launchconfig
