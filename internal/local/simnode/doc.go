// Package simnode runs a fleet of simulated nodes: Node objects that look like machines, renew their leases and accept
// pods, but run no processes. A pod bound to one of them moves through its phases according to timers and its
// annotations, so that thousands of nodes and tens of thousands of pods fit on one machine.
//
//	In:   Node objects labelled vc-batch.dev/node-kind=simulated, and the pods bound to them
//	Out:  leases, node status (only when it is wrong), pod status, pod deletion, events about invalid annotations
//
// # Invariants
//
//   - The API holds the fleet's only state. The fleet serves every node with the label, no matter which process created
//     it, and after a restart it continues from the pods' statuses. So any process can add or remove a node.
//   - A pod's next step is a pure function of its record (life.go): a pod with a given UID always fails, or succeeds,
//     in the same way.
//   - A status is written with the pod's UID as a precondition, so that a re-created pod never gets the status of its
//     predecessor.
//   - Heartbeats are leases only. A node's status is written when the node is created, and when another component has
//     marked it as not ready.
//
// # Concurrency
//
// A Fleet is safe for concurrent use. One goroutine waits for the next due step. A bounded number of writers carry out
// the steps, never two at a time for one pod.
package simnode
