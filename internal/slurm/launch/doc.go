// Package launch is what the submitting side of Slurm's commands and the helper inside the pods agree on: what a batch job's launcher has to know, where
// it finds it, and what it tells when it ends. It also says what follows from that alone: who is which node of the job, what the script finds in its
// environment, how tasks are spread over nodes, and where output goes.
//
//	In:   Spec (a file beside the script), Pod (downward API)
//	Out:  Place, environment, layout of tasks, file names; Report
//
// # Invariants
//
//   - Pure, and knows the standard library and package hostlist only: the helper is to stay small.
//   - All pods of a job compute the same nodes, in the same order.
package launch
