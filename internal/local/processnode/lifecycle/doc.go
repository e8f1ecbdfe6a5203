// Package lifecycle decides what happens to a pod: which container starts, restarts, stops or is killed when, and what the pod's
// status says. It is the kubelet's book of rules without its hands.
//
//	In:   the pod's spec, what happened to its containers (Began, Over, CannotConfigure, …), the time
//	Out:  Actions, the next time to ask, a corev1.PodStatus
//
// # Invariants
//
//   - No I/O, no clock: the same calls give the same actions.
//   - Init containers run one after the other, a sidecar's successor starts when the sidecar has started, main containers start
//     together after all of them; sidecars stop after the main containers, the last first.
//   - A pod is Succeeded or Failed only when nothing of it runs.
//
// # Concurrency
//
// A Pod belongs to one goroutine.
package lifecycle
