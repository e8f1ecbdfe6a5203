// Package queuerow presents queues in the dashboard: how much of a resource a queue uses, its bounds, and the bar
// that shows both. Overview and Queues show the same numbers.
//
//	In:   snapshot.Queue, a resource
//	Out:  Numbers, widget.Bar, text
//
// Pure.
package queuerow

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/queueusage"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// Numbers holds how much of one resource a queue uses, and its bounds, in milli-CPU, bytes or units. Unset values are
// negative.
type Numbers struct {
	Allocated, Admitted             int64
	Guarantee, Deserved, Capability int64
}

// NumbersOfQueue returns the numbers of a queue for a resource.
func NumbersOfQueue(q *snapshot.Queue, name corev1.ResourceName) Numbers {
	said := func(list corev1.ResourceList) int64 {
		if amount, ok := amountInList(list, name); ok {
			return amount
		}
		return -1
	}
	n := Numbers{Guarantee: said(q.Object.Spec.Guarantee.Resource), Deserved: said(queueusage.DeservedResources(q.Object)), Capability: said(q.Object.Spec.Capability)}
	n.Admitted, _ = amountInList(q.Admitted, name)
	if name == corev1.ResourcePods { // the scheduler does not report it
		n.Allocated = int64(q.Pods)
		return n
	}
	n.Allocated, _ = amountInList(q.Object.Status.Allocated, name)
	return n
}

// amountInList returns the amount of a resource in a list, in milli-CPU, bytes or units. ok is false if the list does
// not contain the resource.
func amountInList(list corev1.ResourceList, name corev1.ResourceName) (amount int64, ok bool) {
	quantity, ok := list[name]
	if name == corev1.ResourceCPU {
		return quantity.MilliValue(), ok
	}
	return quantity.Value(), ok
}

// DeservedShare returns the allocated amount as a fraction of the deserved amount. ok is false if nothing is deserved.
func (n Numbers) DeservedShare() (part float64, ok bool) {
	if n.Deserved > 0 {
		return float64(n.Allocated) / float64(n.Deserved), true
	}
	return 0, false
}

// FormatAmount formats an amount; an unset amount is formatted as "-".
func FormatAmount(name corev1.ResourceName, amount int64) string {
	if amount < 0 {
		return "-"
	}
	return render.FormatAmount(name, amount)
}

// FullBarAmount returns the amount that the full width of a bar represents: the total of all nodes or, if no nodes are
// known, the largest use or bound of any queue.
func FullBarAmount(snap *snapshot.Snapshot, queues []*snapshot.Queue, name corev1.ResourceName) float64 {
	total := int64(0)
	for _, n := range snap.Nodes {
		if name == corev1.ResourcePods {
			total += n.PodLimit
			continue
		}
		total += n.Has.AmountOfResource(name)
	}
	most := int64(0)
	for _, q := range queues {
		n := NumbersOfQueue(q, name)
		most = max(most, n.Allocated)
		if total == 0 {
			most = max(most, n.Capability, n.Deserved)
		}
	}
	return float64(max(total, most))
}

// NewUsageBar returns a bar with the allocated and the admitted amount, in which signs mark the bounds.
func NewUsageBar(n Numbers, scale float64) widget.Bar {
	return widget.Bar{
		Used: float64(n.Allocated), Admitted: float64(n.Admitted), Scale: scale, Over: float64(max(n.Deserved, 0)), Until: float64(max(n.Capability, 0)),
		Marks: []widget.BarMark{{At: float64(n.Guarantee), Sign: 'g'}, {At: float64(n.Deserved), Sign: '|'}, {At: float64(n.Capability), Sign: ']'}},
	}
}

// BarLegendText explains the parts of a bar.
func BarLegendText(g theme.Glyphs, wide bool) string {
	if !wide {
		return "g guar | desv ] cap"
	}
	return fmt.Sprintf("%calloc %cinqueue g guar | desv ] cap", g.Full, g.Part)
}
