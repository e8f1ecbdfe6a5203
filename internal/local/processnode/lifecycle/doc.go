// Package lifecycle decides what happens to a pod. It decides when the pod's containers are started, restarted, stopped
// or killed, and what the pod's status contains. It follows the kubelet's rules, but does not carry out the actions
// itself.
//
//	In:   the pod's spec, events of its containers (RecordAttemptStart, RecordAttemptEnd, …), the time
//	Out:  Actions, the time of the next call, a corev1.PodStatus
//
// # Invariants
//
//   - The package performs no I/O and reads no clock, so the same calls give the same actions.
//   - Init containers run one after the other. The container after a sidecar starts when the sidecar has started.
//     Main containers start together after all init containers. Sidecars stop after the main containers, in reverse
//     order.
//   - A pod is Succeeded or Failed only when none of its containers is running.
//
// # Concurrency
//
// A Pod must be used by a single goroutine.
package lifecycle
