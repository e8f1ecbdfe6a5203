// Package gpustats brings the utilization of GPUs by the pods of jobs from Prometheus to a podmeasure.Tracker, at intervals.
//
//	In:   the running pods of a podmeasure.Tracker; the utilization of GPUs in Prometheus
//	Out:  samples in the Tracker; metrics
//
// # Invariants
//
//   - A part of a round is never added: after an error, the next round reads the same times again.
//   - At most longestCatchUp before now is read.
//
// # Concurrency
//
// A Sampler runs once.
package gpustats
