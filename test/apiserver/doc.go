// Package apiserver implements the part of a Kubernetes API server that this project uses, in memory and in one
// goroutine, so that a test can simulate thousands of clusters. A differential test compares it with the real API
// server.
//
//	In:   requests of clients (Server.Do)
//	Out:  objects and API errors; Server.History, from which a simulation serves watches
//
// # Invariants
//
//   - The result of a request depends only on the requests before it and on the clock. There is no goroutine, no random
//     source, and no dependence on the order of maps.
//   - As in etcd, each write creates a new version. A stored object is never modified, only replaced.
//
// # Concurrency
//
// A Server is for use by one goroutine.
package apiserver
