// Package model is what the scheduler knows: nodes, tasks, gangs, queues and
// priority classes as plain data.
//
//	In:   deltas (NodeSet, TaskSet, …), made from API objects by the pure converters NodeFrom, TaskFrom, …
//	Out:  a Cluster that the engine reads, with a log of which nodes and gangs changed
//
// A task is one pod here; a gang is a PodGroup and its pods; a shape is
// everything of a pod that matters for where it may run.
//
// # Units
//
// Quantities are int64: milli-cores for cpu, bytes for memory and storage,
// pieces for everything else. Requests are rounded up, capacities down. One pod or
// node has at most MaxAmount, a sum or a queue's limit at most MaxSum: sums are kept
// in 128 bits and bounded where they are read.
//
// # Invariants
//
//   - For every node: used = sum of the requests of its tasks that are bound, assumed, running or
//     releasing; releasing and pipelined are the parts of tasks with that status.
//   - Queue sums are the sums over the queue's gangs of Gang.Sums, always up to date.
//   - What was assumed (Bind, Evict, Nominate, SetStatus) stays until the API
//     confirms it or a …Failed delta takes it back; an older API object does not undo it.
//
// # Concurrency
//
// A Cluster belongs to one goroutine.
package model
