// Package aggregatedapi serves an API group through the API server's aggregator. The API server authenticates each
// user and forwards the request with the user's name; the handler of the group checks the user's permissions.
//
//	In:   requests from the API server's aggregator
//	Out:  the responses of the group's handler; an APIService, and a Service if the API server runs on the same machine
//
// # Invariants
//
//   - A group is registered only while requests from the API server can be authenticated.
//   - Without a Service of its own, the registration is deleted at the end, because the API server cannot delete
//     namespaces while a registered service does not respond. With a Service, Kubernetes deletes it with its owner.
//     Registrations of other programs are never changed.
//
// # Concurrency
//
// Run serves until its context is done. A Permissions may be used by several goroutines.
package aggregatedapi
