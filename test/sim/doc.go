// Package sim simulates the whole system under faults: the production scheduler and controllers, an API server in
// memory, kubelets, users, and the network between them. Everything happens in one goroutine and follows from a seed,
// so that a failure can be repeated.
package sim
