// Package job carries out the plans of package plan: it reads a job and the objects that belong to it from the cache,
// computes a plan, and writes it.
//
//	In:   watches of jobs, their pods, PodGroups and commands
//	Out:  writes to the API, events, metrics
//
// # Invariants
//
//   - This package makes no decisions. The state kept between reconciles (memory.go) only covers the time until the
//     cache shows the controller's own writes, and keeps observed evictions until a plan has handled them. Without this
//     state plans are later, but not different.
//   - The only calls per pod are to create, mark and delete it.
//
// # Concurrency
//
// Several jobs are reconciled in parallel, but never the same job twice at once. Writes of pods run in parallel;
// Options.Writers limits them for all jobs together.
package job
