// Package sandbox starts containers as processes of this machine and talks to their inits.
//
//	In:   a shim.Container, the pod's network namespace, a memory and cpu group
//	Out:  a running Container: its exit, its streams, signals and further processes beside it
//
// # Invariants
//
//   - Every init is a child of one thread that never ends while the node's process lives, and is killed by the kernel when it
//     does. An init's death kills its container (package shim), so kill -9 of the node's process leaves no process behind.
//   - What the machine does not permit is found out once (Probe) by starting a real container, not guessed.
//
// # Concurrency
//
// All methods may be called from any goroutine.
package sandbox
