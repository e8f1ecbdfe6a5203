// Package sim simulates the whole system under faults: the production scheduler and controllers, an API server in
// memory, kubelets, users, and the network between them. Everything happens in one goroutine and follows from a seed,
// so that a failure can be repeated. docs/fault-simulator.md explains how to read a failing seed.
//
//	In:   a seed, from which a script is drawn: the cluster, the actions of users, and the faults
//	Out:  the first violation of an invariant, and a trace
//
// # Invariants
//
//   - Two runs of a script have the same trace.
//   - Programs act only through requests and watches. The world reads the objects directly only to check them, and in
//     models of kubelets and users.
//
// # Concurrency
//
// A World belongs to one goroutine. Several worlds can run at the same time.
package sim
