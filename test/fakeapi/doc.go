// Package fakeapi implements an API server for property tests of controllers. It stores plain data in one process, so
// that a test can simulate ten thousand lives of an object in seconds. It keeps a history for caches that lag behind,
// can stop its client after any write, and returns errors and late responses on request.
//
//	In:   objects of tests (Put, Remove), requests of the controller under test (Server is a client.Client)
//	Out:  Objects, History, Writes
//
// # Invariants
//
//   - As in etcd, each write creates a new version. A stored object is never modified, only replaced. Guarded servers
//     check that their clients do not modify stored objects.
//   - Preconditions, optimistic locks and merge patches work as in the API server. Not implemented: defaults,
//     validation, admission, separate subresources, garbage collection.
//
// # Concurrency
//
// A Server is for use by one goroutine.
package fakeapi
