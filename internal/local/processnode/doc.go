// Package processnode implements a Kubernetes node whose pods are processes on this machine.
//
//	In:   pods that are bound to the node in the API server
//	Out:  processes; their logs; their exits and probe results as pod statuses, as the kubelet reports them
//
// Each pod has a worker, a goroutine that owns the pod's state (package lifecycle), carries out its actions and
// writes its status. The processes that the worker starts (package sandbox) send events back to it.
//
//	informer ─▶ Node.handlePodObject ─▶ worker ─▶ lifecycle.Next ─▶ start · stop · kill ─▶ sandbox ─▶ exits ─▶ worker
//	                                 └─▶ lifecycle.Status ─▶ statusWriter ─▶ API
//
// The node's registration and lease, and the protocol for exec, attach and port-forward, come from virtual-kubelet
// (node, node/api). Its pod controller is not used, because it identifies pods by name and deletes them from the API
// on a timer, while a job that restarts creates pods with the same name within milliseconds (see docs/adr).
//
// # Invariants
//
//   - A pod is identified by its UID, never by its name alone.
//   - Only after the last process of a pod has ended is the pod's final phase written, and the pod deleted from the
//     API.
//   - When the node's process ends for any reason, all processes of its pods end. At the next start, containers
//     that were running are reported as failed.
//
// # Concurrency
//
// One goroutine per pod makes decisions; all other goroutines post to it. Nodes of the same cluster in one process
// share a machine (bridge, addresses, names).
package processnode
