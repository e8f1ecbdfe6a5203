package queueusage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/render"
)

// Bound returns the amount that the usage of a resource is relative to: the queue's capability, or else its configured
// deserved amount. The share that the scheduler computes is no such bound, because it never exceeds the requests.
func Bound(q *schedulingv1beta1.Queue, name corev1.ResourceName) (resource.Quantity, bool) {
	if limit, limited := q.Spec.Capability[name]; limited {
		return limit, true
	}
	share, named := q.Spec.Deserved[name]
	return share, named && !share.IsZero()
}

// Held returns the amount of a resource that the queue uses, followed by the bound if there is one.
func Held(q *schedulingv1beta1.Queue, name corev1.ResourceName) string {
	held, holds := q.Status.Allocated[name]
	bound, bounded := Bound(q, name)
	switch {
	case bounded:
		return held.String() + "/" + bound.String()
	case holds && !held.IsZero():
		return held.String()
	}
	return "-"
}

// GPUs is like Held for all resources that count GPUs, of any vendor.
func GPUs(q *schedulingv1beta1.Queue) string {
	var texts []string
	for _, name := range Resources(q) {
		if text := Held(q, name); render.IsGPU(name) && text != "-" {
			texts = append(texts, text)
		}
	}
	return dash(strings.Join(texts, " "))
}

// Resources returns the names of all resources that the queue uses or that are limited for it, sorted.
func Resources(q *schedulingv1beta1.Queue) []corev1.ResourceName {
	var names []corev1.ResourceName
	for _, list := range []corev1.ResourceList{q.Spec.Capability, Deserved(q), q.Status.Allocated} {
		for name := range list {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// Usage is the usage of a queue, for the resource that is closest to its bound.
type Usage struct {
	// Share is the used fraction of the bound; negative if the queue has no bound.
	Share float64
	// Mark is the deserved fraction of the bound; 0 if the bound is the deserved amount itself.
	Mark float64
	// Resource is the resource that is closest to its bound.
	Resource corev1.ResourceName
}

// Use returns the usage of a queue for the resource that is closest to its bound. It ignores pods.
func Use(q *schedulingv1beta1.Queue) Usage {
	most := Usage{Share: -1}
	for _, name := range Resources(q) {
		bound, bounded := Bound(q, name)
		amount := bound.AsApproximateFloat64()
		if !bounded || amount <= 0 || name == corev1.ResourcePods {
			continue
		}
		held, deserves := q.Status.Allocated[name], Deserved(q)[name]
		share := held.AsApproximateFloat64() / amount
		if share > most.Share {
			most = Usage{Share: share, Mark: deserves.AsApproximateFloat64() / amount, Resource: name}
		}
	}
	return most
}

const barWidth = 8

// UsedBar draws the usage: "█████│██░░  70% gpu". The part to the right of the mark is borrowed.
func UsedBar(q *schedulingv1beta1.Queue, fancy bool) string {
	u := Use(q)
	if u.Share < 0 {
		return "-"
	}
	text := fmt.Sprintf("%s %3.0f%%", render.Gauge(u.Share, u.Mark, 1, barWidth, fancy), u.Share*100)
	if u.Share > 0 {
		text += " " + render.ShortResource(u.Resource)
	}
	return text
}

// UsedLong is like UsedBar with the amounts: "█████│██░░  70% 7/10 gpu".
func UsedLong(q *schedulingv1beta1.Queue, fancy bool) string {
	u := Use(q)
	if u.Share < 0 {
		return "-"
	}
	return fmt.Sprintf("%s %3.0f%% %s %s", render.Gauge(u.Share, u.Mark, 1, barWidth, fancy), u.Share*100, Held(q, u.Resource), render.ShortResource(u.Resource))
}

// ByUse compares queues by their usage.
func ByUse(a, b *schedulingv1beta1.Queue) int { return cmp.Compare(Use(a).Share, Use(b).Share) }

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
