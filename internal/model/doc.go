// Package model stores the scheduler's view of the cluster: nodes, tasks, gangs, queues and priority classes as
// plain data.
//
//	In:   deltas (NodeSet, TaskSet, …), made from API objects by the pure converters NodeFrom, TaskFrom, …
//	Out:  a Cluster that the engine reads, with a log of which nodes and gangs changed
//
// A task is one pod. A gang is a PodGroup and its pods. A shape is everything in a pod that decides where the pod
// may run.
//
// # Units
//
// Quantities are int64: milli-cores for cpu, bytes for memory and storage, pieces for everything else. Requests are
// rounded up, capacities down. One pod or node has at most MaxAmount; a sum or a queue's limit is at most MaxSum.
// Sums are kept in 128 bits and bounded when they are read.
//
// # Invariants
//
//   - For every node: used = the sum of the requests of its tasks that are bound, assumed, running or releasing;
//     releasing and pipelined are the parts of tasks with that status.
//   - A queue's sums are the sums of Gang.Sums over its gangs, always up to date.
//   - An assumption (AssumeBound, AssumeEvicted, AssumeNominated and the other Assume methods) stays until the API
//     confirms it or a …Failed delta reverts it. An older API object does not revert it.
//
// # Concurrency
//
// A Cluster belongs to one goroutine.
package model
