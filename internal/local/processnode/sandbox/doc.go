// Package sandbox starts containers as processes of this machine and communicates with their inits.
//
//	In:   a shim.Container, the pod's network namespace, a memory and cpu group
//	Out:  a running Container: its exit, its streams, signals, and additional processes in it
//
// # Invariants
//
//   - Every init is a child of one thread that lives as long as the node's process. The kernel kills the init when that
//     process ends, and the end of an init kills its container (package shim). So kill -9 of the node's process leaves
//     no process behind.
//   - Probe detects what the machine permits once, by starting a real container.
//
// # Concurrency
//
// Any goroutine may call the methods.
package sandbox
