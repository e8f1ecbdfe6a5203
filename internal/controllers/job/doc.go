// Package job carries out the plans that package plan computes. It reads a job and the objects that belong to it from
// the cache, computes a plan, and writes it.
//
//	In:   watches of jobs and of their pods, PodGroups and commands
//	Out:  writes to the API server, events, metrics
//
// # Invariants
//
//   - This package makes no decisions. The state that it keeps between reconciles (memory.go) only bridges the time
//     until the cache shows the controller's own writes, and keeps observed evictions until a plan has handled them.
//     Without this state, plans would be made later, but would not be different.
//   - The only calls per pod are those that create, mark and delete it.
//
// # Concurrency
//
// Several jobs are reconciled in parallel, but a job is never reconciled twice at the same time. Pods are written in
// parallel; Options.Writers limits the writes of all jobs together.
package job
