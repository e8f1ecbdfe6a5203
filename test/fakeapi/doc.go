// Package fakeapi is an API server for property tests of controllers: plain data in one process, so that ten thousand lives of an object take seconds. It
// keeps a history that late caches follow, ends the life of its client after any write, and errs and answers too late as it is told.
//
//	In:   objects of tests (Put, Remove), requests of the controller under test (Server is a client.Client)
//	Out:  Objects, History, Writes
//
// # Invariants
//
//   - As with etcd, each write makes a newer version; an object that was stored is never changed, only replaced. Guarded servers prove it of their clients.
//   - Preconditions, optimistic locks and merge patches are those of the API server. Not here: defaults, validation, admission, subresources of their own, garbage collection.
//
// # Concurrency
//
// None: one goroutine.
package fakeapi
