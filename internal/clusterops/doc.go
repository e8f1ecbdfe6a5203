// Package clusterops implements the actions that users perform on jobs, queues and nodes. Both the command line and the
// dashboard use it.
//
//	In:   a client, the action and its objects
//	Out:  writes; a sentence that describes the result, or an error that explains a failure
//
// # Invariants
//
//   - Pure functions (Verb.CheckApplicable, SwitchRefused) check whether an action is possible, before any request is sent.
//   - An action applies to the job that the caller read: requests contain its UID, so that a newer job with the same
//     name is not affected.
//   - There are no retries; a partial success is reported together with its errors.
//
// # Concurrency
//
// A Cluster is safe for concurrent use.
package clusterops
