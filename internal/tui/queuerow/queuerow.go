// Package queuerow is queues as the dashboard shows them: what a queue holds of a
// resource, what bounds it, and the bar of both. Overview and Queues show the same.
//
//	In:   snapshot.Queue, a resource
//	Out:  Numbers, widget.Bar, text
//
// Pure.
package queuerow

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/share"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// Numbers are what a queue holds of one resource and what bounds it, in milli-cpu,
// bytes or units. What nobody said is negative.
type Numbers struct {
	Allocated, Admitted             int64
	Guarantee, Deserved, Capability int64
}

// NumbersOf reads them from a queue.
func NumbersOf(q *snapshot.Queue, name corev1.ResourceName) Numbers {
	said := func(list corev1.ResourceList) int64 {
		if amount, ok := amountOf(list, name); ok {
			return amount
		}
		return -1
	}
	n := Numbers{Guarantee: said(q.Object.Spec.Guarantee.Resource), Deserved: said(share.Deserved(q.Object)), Capability: said(q.Object.Spec.Capability)}
	n.Allocated, _ = amountOf(q.Object.Status.Allocated, name)
	n.Admitted, _ = amountOf(q.Admitted, name)
	return n
}

// amountOf is a resource in a list: milli-cpu, or units; ok is false when it is not named.
func amountOf(list corev1.ResourceList, name corev1.ResourceName) (amount int64, ok bool) {
	quantity, ok := list[name]
	if name == corev1.ResourceCPU {
		return quantity.MilliValue(), ok
	}
	return quantity.Value(), ok
}

// Share is how much of what the queue deserves it holds; ok is false when it deserves nothing.
func (n Numbers) Share() (part float64, ok bool) {
	if n.Deserved > 0 {
		return float64(n.Allocated) / float64(n.Deserved), true
	}
	return 0, false
}

// Text writes an amount; what nobody said is "-".
func Text(name corev1.ResourceName, amount int64) string {
	if amount < 0 {
		return "-"
	}
	return render.Amount(name, amount)
}

// Scale is what the width of the bars stands for: what the nodes have of the resource,
// or the most that any queue holds or is bounded by while no node is known.
func Scale(snap *snapshot.Snapshot, queues []*snapshot.Queue, name corev1.ResourceName) float64 {
	total := int64(0)
	for _, n := range snap.Nodes {
		if name == corev1.ResourcePods {
			total += n.PodLimit
			continue
		}
		total += n.Has.Of(name)
	}
	most := int64(0)
	for _, q := range queues {
		n := NumbersOf(q, name)
		most = max(most, n.Allocated)
		if total == 0 {
			most = max(most, n.Capability, n.Deserved)
		}
	}
	return float64(max(total, most))
}

// Bar draws what is held and admitted, and the bounds as signs.
func Bar(n Numbers, scale float64) widget.Bar {
	return widget.Bar{
		Used: float64(n.Allocated), Admitted: float64(n.Admitted), Scale: scale, Over: float64(max(n.Deserved, 0)), Until: float64(max(n.Capability, 0)),
		Marks: []widget.BarMark{{At: float64(n.Guarantee), Sign: 'g'}, {At: float64(n.Deserved), Sign: '|'}, {At: float64(n.Capability), Sign: ']'}},
	}
}

// Legend says what a bar is made of.
func Legend(g theme.Glyphs, wide bool) string {
	if !wide {
		return "g guar | desv ] cap"
	}
	return fmt.Sprintf("%calloc %cinqueue g guar | desv ] cap", g.Full, g.Part)
}
