package share

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

// Bound is what the use of a resource is measured by: the queue's capability, else what it is said to
// deserve. What the scheduler gives it for the moment is no bound: that is never above what it asks for.
func Bound(q *schedulingv1beta1.Queue, name corev1.ResourceName) (resource.Quantity, bool) {
	if limit, limited := q.Spec.Capability[name]; limited {
		return limit, true
	}
	share, named := q.Spec.Deserved[name]
	return share, named && !share.IsZero()
}

// Held is what the queue holds of a resource, and of how much when there is a bound.
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

// GPUs is Held for the resources that count GPUs, whoever makes them.
func GPUs(q *schedulingv1beta1.Queue) string {
	var texts []string
	for _, name := range Resources(q) {
		if text := Held(q, name); render.IsGPU(name) && text != "-" {
			texts = append(texts, text)
		}
	}
	return dash(strings.Join(texts, " "))
}

// Resources are the names of all that the queue holds or is bounded in, sorted.
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

// Usage is how full a queue is, by the resource that is nearest to its bound.
type Usage struct {
	// Share is the part used of the bound; negative when nothing bounds the queue.
	Share float64
	// Mark is the part of the bound that the queue deserves; 0 when the bound is that itself.
	Mark float64
	// Resource is the one that this is about.
	Resource corev1.ResourceName
}

// Use is how full a queue is, by the resource that is nearest to its bound; pods do not count.
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

// UsedBar draws the usage: "█████│██░░  70% gpu". Right of the mark is what is borrowed.
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

// UsedLong is UsedBar with the amounts: "█████│██░░  70% 7/10 gpu".
func UsedLong(q *schedulingv1beta1.Queue, fancy bool) string {
	u := Use(q)
	if u.Share < 0 {
		return "-"
	}
	return fmt.Sprintf("%s %3.0f%% %s %s", render.Gauge(u.Share, u.Mark, 1, barWidth, fancy), u.Share*100, Held(q, u.Resource), render.ShortResource(u.Resource))
}

// ByUse orders queues by how full they are.
func ByUse(a, b *schedulingv1beta1.Queue) int { return cmp.Compare(Use(a).Share, Use(b).Share) }

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
