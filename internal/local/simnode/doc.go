// Package simnode runs a fleet of simulated nodes: Node objects that look like
// machines, renew their leases and take pods, but run nothing. A pod bound to
// one of them moves through its phases by clock, as its annotations say, so
// that thousands of nodes and tens of thousands of pods fit on one machine.
//
//	In:   Node objects labelled vc-batch.dev/node-kind=simulated, and the pods bound to them
//	Out:  leases, node status (only when it is wrong), pod status, pod deletion, events about bad annotations
//
// # Invariants
//
//   - The API is the fleet's only state. Every node with the label is served,
//     whoever made it, and a fleet that starts anew goes on from what the pods'
//     status says; so a node can be added or removed by any process.
//   - What a pod does next is a pure function of its record (life.go): the same
//     pod uid fails, or not, the same way every time.
//   - A status is written with the pod's uid as a precondition: a pod that was
//     deleted and made again under its name never gets its predecessor's status.
//   - Heartbeats are leases only. A node's status is written when the node is
//     made, and when somebody else made it not ready.
//
// # Concurrency
//
// A Fleet is safe for use by many goroutines. One goroutine waits for the next
// step that is due; a bounded number of writers carry steps out, never two for
// one pod at a time.
package simnode
