// Package processnode implements a Kubernetes node whose pods are processes of this machine.
//
//	In:   pods that are bound to the node in the API server
//	Out:  processes; their logs, exits and probe results as pod statuses, as the kubelet reports them
//
// Each pod has a worker: one goroutine that owns the pod's state (package lifecycle), carries out its actions and
// writes the status. The processes that the worker starts (package sandbox) report back to it as events.
//
//	informer ─▶ Node.handle ─▶ worker ─▶ lifecycle.Next ─▶ start · stop · kill ─▶ sandbox ─▶ exits ─▶ worker
//	                                 └─▶ lifecycle.Status ─▶ statusWriter ─▶ API
//
// Registration, lease and the protocol of exec, attach and port-forward come from virtual-kubelet (node, node/api). Its
// pod controller is not used: it identifies pods by name and deletes them from the API on a timer, while a restarting
// job creates pods with the same name within milliseconds (see docs/adr).
//
// # Invariants
//
//   - A pod is identified by its UID, never by its name alone.
//   - A pod is deleted from the API only after its last process has ended. The same holds for writing a final phase.
//   - When the node's process ends for any reason, all processes of its pods end. The next start reports containers
//     that were running as failed.
//
// # Concurrency
//
// One goroutine per pod decides; all other goroutines post to it. Nodes of one cluster in one process share a machine
// (bridge, addresses, names).
package processnode
