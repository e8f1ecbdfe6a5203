// Package simnode runs a fleet of simulated nodes: Node objects that look like machines, renew their leases and
// accept pods, but run no processes. A pod that is bound to such a node moves through its phases as timers and its
// annotations determine, so that thousands of nodes and tens of thousands of pods fit on one machine.
//
//	In:   Node objects labelled vc-batch.dev/node-kind=simulated, and the pods bound to them
//	Out:  leases, node status (only when it is wrong), pod status, pod deletion, events about invalid annotations
//
// # Invariants
//
//   - The only state of the fleet is in the API. The fleet serves every node with the label, no matter which
//     process created it, and after a restart it continues from the statuses of the pods. Therefore, any process
//     can add or remove nodes.
//   - The next step of a pod is a pure function of its record (life.go), so a pod with a given UID always fails or
//     succeeds in the same way.
//   - A status is written with the pod's UID as a precondition, so that a re-created pod never gets the status of
//     its predecessor.
//   - Heartbeats consist only of leases. The status of a node is written only when the node is created, and when
//     another component has marked the node as not ready.
//
// # Concurrency
//
// A Fleet is safe for concurrent use. One goroutine waits for the next step that is due. A limited number of writers
// carry out the steps, but never two at the same time for the same pod.
package simnode
