// Package lifecycle decides what happens to a pod: when a container starts, restarts, stops or is killed, and the
// content of the pod's status. It follows the kubelet's rules but carries out no actions.
//
//	In:   the pod's spec, events of its containers (Began, Over, CannotConfigure, …), the time
//	Out:  Actions, the time of the next call, a corev1.PodStatus
//
// # Invariants
//
//   - No I/O, no clock: the same calls give the same actions.
//   - Init containers run one after the other. The container after a sidecar starts when the sidecar has started. Main
//     containers start together after all init containers. Sidecars stop after the main containers, in reverse order.
//   - A pod is Succeeded or Failed only when none of its containers runs.
//
// # Concurrency
//
// A Pod belongs to one goroutine.
package lifecycle
