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

// UsageBound returns the amount that the usage of a resource is relative to: the queue's capability, or else its
// deserved amount if one is configured. Without a configured one, the deserved amount is not a bound, because it
// follows the requests.
func UsageBound(q *schedulingv1beta1.Queue, name corev1.ResourceName) (resource.Quantity, bool) {
	if limit, limited := q.Spec.Capability[name]; limited {
		return limit, true
	}
	if configured, named := q.Spec.Deserved[name]; !named || configured.IsZero() {
		return resource.Quantity{}, false
	}
	deserved := DeservedResources(q)[name]
	return deserved, !deserved.IsZero()
}

// FormatUsage returns the amount of a resource that the queue uses, followed by the bound if there is one.
func FormatUsage(q *schedulingv1beta1.Queue, name corev1.ResourceName) string {
	held, holds := q.Status.Allocated[name]
	bound, bounded := UsageBound(q, name)
	switch {
	case bounded:
		return held.String() + "/" + bound.String()
	case holds && !held.IsZero():
		return held.String()
	}
	return "-"
}

// FormatGPUUsage is like FormatUsage for all resources that count GPUs, of any vendor.
func FormatGPUUsage(q *schedulingv1beta1.Queue) string {
	var texts []string
	for _, name := range ResourceNames(q) {
		if text := FormatUsage(q, name); render.IsGPU(name) && text != "-" {
			texts = append(texts, text)
		}
	}
	return dashIfEmpty(strings.Join(texts, " "))
}

// ResourceNames returns the names of all resources that the queue uses or that are limited for it, sorted.
func ResourceNames(q *schedulingv1beta1.Queue) []corev1.ResourceName {
	var names []corev1.ResourceName
	for _, list := range []corev1.ResourceList{q.Spec.Capability, DeservedResources(q), q.Status.Allocated} {
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

// HighestUsage returns the usage of a queue for the resource that is closest to its bound. It ignores pods.
func HighestUsage(q *schedulingv1beta1.Queue) Usage {
	most := Usage{Share: -1}
	for _, name := range ResourceNames(q) {
		bound, bounded := UsageBound(q, name)
		amount := bound.AsApproximateFloat64()
		if !bounded || amount <= 0 || name == corev1.ResourcePods {
			continue
		}
		held, deserves := q.Status.Allocated[name], DeservedResources(q)[name]
		share := held.AsApproximateFloat64() / amount
		if share > most.Share {
			most = Usage{Share: share, Mark: deserves.AsApproximateFloat64() / amount, Resource: name}
		}
	}
	return most
}

const barWidth = 8

// FormatUsageBar draws the usage: "█████│██░░  70% gpu". The part to the right of the mark is borrowed.
func FormatUsageBar(q *schedulingv1beta1.Queue, fancy bool) string {
	u := HighestUsage(q)
	if u.Share < 0 {
		return "-"
	}
	text := fmt.Sprintf("%s %3.0f%%", render.FormatMarkedBar(u.Share, u.Mark, 1, barWidth, fancy), u.Share*100)
	if u.Share > 0 {
		text += " " + render.ShortResource(u.Resource)
	}
	return text
}

// FormatLongUsageBar is like FormatUsageBar with the amounts: "█████│██░░  70% 7/10 gpu".
func FormatLongUsageBar(q *schedulingv1beta1.Queue, fancy bool) string {
	u := HighestUsage(q)
	if u.Share < 0 {
		return "-"
	}
	return fmt.Sprintf("%s %3.0f%% %s %s", render.FormatMarkedBar(u.Share, u.Mark, 1, barWidth, fancy), u.Share*100, FormatUsage(q, u.Resource), render.ShortResource(u.Resource))
}

// CompareByUsage compares queues by their usage.
func CompareByUsage(a, b *schedulingv1beta1.Queue) int {
	return cmp.Compare(HighestUsage(a).Share, HighestUsage(b).Share)
}

func dashIfEmpty(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
