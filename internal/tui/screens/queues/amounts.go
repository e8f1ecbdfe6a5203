package queues

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/share"
	"github.com/vc-batch/vc/internal/snapshot"
)

// amountOf is a resource in a list: milli-cpu, or units; ok is false when it is not named.
func amountOf(list corev1.ResourceList, name corev1.ResourceName) (amount int64, ok bool) {
	quantity, ok := list[name]
	if name == corev1.ResourceCPU {
		return quantity.MilliValue(), ok
	}
	return quantity.Value(), ok
}

// numbers are what a queue holds of one resource and what bounds it. What nobody said is negative.
type numbers struct {
	allocated, admitted             int64
	guarantee, deserved, capability int64
}

func numbersOf(q *snapshot.Queue, name corev1.ResourceName) numbers {
	said := func(list corev1.ResourceList) int64 {
		if amount, ok := amountOf(list, name); ok {
			return amount
		}
		return -1
	}
	n := numbers{guarantee: said(q.Object.Spec.Guarantee.Resource), deserved: said(share.Deserved(q.Object)), capability: said(q.Object.Spec.Capability)}
	n.allocated, _ = amountOf(q.Object.Status.Allocated, name)
	n.admitted, _ = amountOf(q.Admitted, name)
	return n
}

// share is how much of what the queue deserves it holds; ok is false when it deserves nothing.
func (n numbers) share() (part float64, ok bool) {
	if n.deserved > 0 {
		return float64(n.allocated) / float64(n.deserved), true
	}
	return 0, false
}

// text writes an amount; what nobody said is "-".
func text(name corev1.ResourceName, amount int64) string {
	if amount < 0 {
		return "-"
	}
	return render.Amount(name, amount)
}

// gpusOf counts the GPUs of a list, whoever makes them.
func gpusOf(list corev1.ResourceList) float64 {
	sum := 0.0
	for name, amount := range list {
		if render.IsGPU(name) {
			sum += amount.AsApproximateFloat64()
		}
	}
	return sum
}

// scaleOf is what the width of the bars stands for: what the nodes have of the resource, or
// the most that any queue holds or is bounded by while no node is known.
func scaleOf(snap *snapshot.Snapshot, rows []*row, name corev1.ResourceName) float64 {
	total := int64(0)
	for _, n := range snap.Nodes {
		if name == corev1.ResourcePods {
			total += n.PodLimit
			continue
		}
		total += n.Has.Of(name)
	}
	most := int64(0)
	for _, r := range rows {
		n := numbersOf(r.Queue, name)
		most = max(most, n.allocated)
		if total == 0 {
			most = max(most, n.capability, n.deserved)
		}
	}
	return float64(max(total, most))
}
