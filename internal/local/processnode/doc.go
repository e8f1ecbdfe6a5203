// Package processnode is a Kubernetes node whose pods are processes of this machine.
//
//	In:   pods that the API server says are bound to the node
//	Out:  processes; their logs, exits and probes as pod statuses, the way the kubelet tells them
//
// Each pod has a worker: one goroutine that owns the pod's state (package lifecycle), carries out what it decides and writes
// the status. What the worker starts (package sandbox) reports back to it as events.
//
//	informer ─▶ Node.handle ─▶ worker ─▶ lifecycle.Next ─▶ start · stop · kill ─▶ sandbox ─▶ exits ─▶ worker
//	                                 └─▶ lifecycle.Status ─▶ statusWriter ─▶ API
//
// Registration, lease and the protocol of exec, attach and port-forward are virtual-kubelet's (node, node/api). Its pod controller
// is not used: it knows pods by name and deletes them from the API by clock, while a job that restarts makes pods of the same
// name again within milliseconds (docs/adr says more).
//
// # Invariants
//
//   - A pod is known by its UID, never by its name alone.
//   - A pod leaves the API only after its last process is gone; a phase that is final is written only then, too.
//   - When the process ends, however, all processes of its pods end; what was Running is told honestly at the next start.
//
// # Concurrency
//
// One goroutine a pod decides; everything else posts to it. Nodes of one cluster in one process share a machine (bridge,
// addresses, names).
package processnode
