// Package apiserver implements the part of a Kubernetes API server that this project uses, in memory and in one
// goroutine, so that a test can simulate thousands of clusters. A differential test compares it with the real API
// server.
//
//	In:   requests of clients (Server.Do)
//	Out:  objects and API errors; Server.History, from which a simulation serves watches; the next requests of the
//	      controllers of Kubernetes (Server.GarbageRequests and others), which a simulation sends or loses; calls of
//	      webhooks (Server.CallWebhook), which may wait while the server carries out other requests
//
// Kubernetes' own kinds use the strategies of the real API server, which work on its internal types. The kinds of this
// project, which the real API server handles as JSON, are handled as Go types. Client, OutboxAPI and Cache are what the
// components of this project use instead of their real clients and caches. A test without a simulation sends their
// requests over a Connection, which fails on request, and plays the other components with Server.Save and Server.Remove.
//
// # Invariants
//
//   - The result of a request depends only on the requests before it and on the clock. There is no goroutine, no random
//     source, and no dependence on the order of maps.
//   - As in etcd, each write creates a new version. A stored object is never modified, only replaced.
//
// # Concurrency
//
// A Server, and a Cache, is for use by one goroutine. Several servers can be used at the same time.
package apiserver
