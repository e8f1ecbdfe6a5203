// Package job carries out the plans of package plan: it reads a job and what belongs to it from the cache, has a plan made, and writes.
//
//	In:   watches of jobs, their pods, PodGroups and commands
//	Out:  writes to the API, events, metrics
//
// # Invariants
//
//   - Nothing is decided here. What is remembered between reconciles (memory.go) only bridges the time until the cache shows our own writes and
//     keeps evictions that were seen until a plan has answered them; without it plans are later, not different.
//   - No call per pod but creating, marking and deleting it.
//
// # Concurrency
//
// Several jobs are reconciled at once, one job never twice at once. Writes of pods run in parallel, all jobs together bounded by Options.Writers.
package job
