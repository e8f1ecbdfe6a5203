// Package kubeletstats measures what the pods of jobs use on kubelets, at intervals, and writes it to their annotations.
//
//	In:   the nodes with running pods of a podmeasure.Tracker; the stats summaries of their kubelets
//	Out:  samples in the Tracker; the annotation of package podusage; metrics
//
// # Invariants
//
//   - At most parallelRequests kubelets are asked at the same time, and one that fails is asked less often.
//   - The number of writes in a period does not depend on the number of pods.
//
// # Concurrency
//
// A Sampler runs once. Its requests run in parallel.
package kubeletstats
