// Package podmeasure keeps what the pods of jobs used, by attempt, until the attempts are recorded.
//
//	In:   pods with the annotation of package podusage; samples of running containers and of GPUs
//	Out:  the use of pods, also of pods that are gone; the pods whose annotation should be written
//
// # Invariants
//
//   - The use of a pod never decreases: it is at least the use in the annotation, so it survives a restart of the
//     recorder.
//   - No time of a GPU counts twice: the annotation contains the time until which the GPUs were measured.
//   - No clock and no client: all times are arguments.
//
// # Concurrency
//
// A Tracker may be used by several goroutines at the same time.
package podmeasure
