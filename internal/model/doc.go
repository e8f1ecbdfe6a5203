// Package model stores the scheduler's view of the cluster: nodes, tasks, gangs, queues and priority classes as
// plain data.
//
//	In:   deltas (NodeSet, TaskSet, …), made from API objects by the pure converters NodeFrom, TaskFrom, …
//	Out:  a Cluster that the engine reads, with a log of which nodes and gangs changed
//
// A task is a single pod. A gang is a PodGroup together with its pods. A shape is the part of a pod that decides
// where the pod may run; pods with the same shape schedule alike.
//
// # Units
//
// Quantities are int64: millicores for cpu, bytes for memory and storage, and pieces for everything else. Requests
// are rounded up, and capacities are rounded down. The amounts of a single pod or node are limited to
// resource.MaxAmount; sums and the limits of queues are limited to resource.MaxSum. Sums are kept in 128 bits, and
// the limit is applied when they are read.
//
// # Invariants
//
//   - For every node, the used amount is the sum of the requests of its tasks that are bound, assumed, running or
//     releasing. The releasing and pipelined amounts are the sums for the tasks with that status.
//   - A queue's sums are the sums of Gang.Sums over its gangs, and are always up to date.
//   - An assumption (AssumeBound, AssumeEvicted, AssumeNominated and the other Assume methods) stays until the API
//     confirms it or a …Failed delta reverts it. An older API object does not revert it.
//
// # Concurrency
//
// A Cluster belongs to one goroutine.
package model
