// Package sandbox starts containers as processes on this machine and communicates with their inits.
//
//	In:   a shim.Container, the pod's network namespace, a memory and cpu group
//	Out:  a running Container: its exit, its streams, signals, and additional processes in it
//
// # Invariants
//
//   - Every init is a child of a thread that exists as long as the node's process does. When that process ends, the
//     kernel kills the init, and the end of the init kills its container (package shim). Therefore, no process remains
//     even after kill -9 of the node's process.
//   - Probe detects what the machine permits by starting real containers once.
//
// # Concurrency
//
// All methods may be called from any goroutine.
package sandbox
