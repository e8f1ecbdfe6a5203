package queues

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/queuerow"
)

// queueNumbers returns the numbers of a queue.
func queueNumbers(q *snapshot.Queue, name corev1.ResourceName) queuerow.Numbers {
	return queuerow.NumbersOfQueue(q, name)
}

// formatAmount formats an amount; an unset amount is formatted as "-".
func formatAmount(name corev1.ResourceName, amount int64) string {
	return queuerow.FormatAmount(name, amount)
}

// sumGPUs returns the total number of GPUs of any vendor in a list.
func sumGPUs(list corev1.ResourceList) float64 {
	sum := 0.0
	for name, amount := range list {
		if render.IsGPU(name) {
			sum += amount.AsApproximateFloat64()
		}
	}
	return sum
}

// leftToCapability returns how much more a queue may use before it reaches its capability. ok is false if it has no
// capability.
func leftToCapability(n queuerow.Numbers) (amount int64, ok bool) {
	if n.Capability < 0 {
		return 0, false
	}
	return max(n.Capability-n.Allocated-n.Admitted, 0), true
}
