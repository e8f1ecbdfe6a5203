// Package gpustats reads the utilization of the GPUs of jobs from Prometheus at intervals, and adds it to a
// podmeasure.Tracker.
//
//	In:   the running pods of a podmeasure.Tracker; the utilization of GPUs in Prometheus
//	Out:  samples in the Tracker; metrics
//
// # Invariants
//
//   - A round is added as a whole or not at all. After an error, the next round reads the same times again.
//   - Measurements that are older than longestCatchUp are not read.
//
// # Concurrency
//
// A Sampler runs once.
package gpustats
