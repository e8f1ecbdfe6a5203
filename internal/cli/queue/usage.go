package queue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/render"
)

// boundOf is what the use of a resource is measured by: the queue's capability, else what it is said to
// deserve. What the scheduler gives it for the moment is no bound: that is never above what it asks for.
func boundOf(q *schedulingv1beta1.Queue, name corev1.ResourceName) (resource.Quantity, bool) {
	if limit, limited := q.Spec.Capability[name]; limited {
		return limit, true
	}
	share, named := q.Spec.Deserved[name]
	return share, named && !share.IsZero()
}

// heldOf is what the queue holds of a resource, and of how much when there is a bound.
func heldOf(q *schedulingv1beta1.Queue, name corev1.ResourceName) string {
	held, holds := q.Status.Allocated[name]
	bound, bounded := boundOf(q, name)
	switch {
	case bounded:
		return held.String() + "/" + bound.String()
	case holds && !held.IsZero():
		return held.String()
	}
	return "-"
}

// gpusOf is heldOf for the resources that count GPUs, whoever makes them.
func gpusOf(q *schedulingv1beta1.Queue) string {
	var texts []string
	for _, name := range resourcesOf(q) {
		if text := heldOf(q, name); cli.IsGPU(string(name)) && text != "-" {
			texts = append(texts, text)
		}
	}
	return dash(strings.Join(texts, " "))
}

// resourcesOf are the names of all that the queue holds or is bounded in, sorted.
func resourcesOf(q *schedulingv1beta1.Queue) []corev1.ResourceName {
	var names []corev1.ResourceName
	for _, list := range []corev1.ResourceList{q.Spec.Capability, deserved(q), q.Status.Allocated} {
		for name := range list {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// usage is how full a queue is, by the resource that is nearest to its bound.
type usage struct {
	// share is the part used of the bound; negative when nothing bounds the queue.
	share float64
	// mark is the part of the bound that the queue deserves; 0 when the bound is that itself.
	mark     float64
	resource corev1.ResourceName
}

func usageOf(q *schedulingv1beta1.Queue) usage {
	most := usage{share: -1}
	for _, name := range resourcesOf(q) {
		bound, bounded := boundOf(q, name)
		amount := bound.AsApproximateFloat64()
		if !bounded || amount <= 0 || name == corev1.ResourcePods {
			continue
		}
		held, deserves := q.Status.Allocated[name], deserved(q)[name]
		if said, named := q.Spec.Deserved[name]; named {
			deserves = said
		}
		share := held.AsApproximateFloat64() / amount
		if share > most.share {
			most = usage{share: share, mark: deserves.AsApproximateFloat64() / amount, resource: name}
		}
	}
	return most
}

const barWidth = 8

// usedBar draws the usage: "█████│██░░  70% gpu". Right of the mark is what is borrowed.
func usedBar(q *schedulingv1beta1.Queue, fancy bool) string {
	u := usageOf(q)
	if u.share < 0 {
		return "-"
	}
	text := fmt.Sprintf("%s %3.0f%%", render.Gauge(u.share, u.mark, 1, barWidth, fancy), u.share*100)
	if u.share > 0 {
		text += " " + cli.ShortResource(u.resource)
	}
	return text
}

// usedLong is usedBar with the amounts: "█████│██░░  70% 7/10 gpu".
func usedLong(q *schedulingv1beta1.Queue, fancy bool) string {
	u := usageOf(q)
	if u.share < 0 {
		return "-"
	}
	return fmt.Sprintf("%s %3.0f%% %s %s", render.Gauge(u.share, u.mark, 1, barWidth, fancy), u.share*100, heldOf(q, u.resource), cli.ShortResource(u.resource))
}

// byUse orders queues by how full they are.
func byUse(a, b *schedulingv1beta1.Queue) int { return cmp.Compare(usageOf(a).share, usageOf(b).share) }

func amountsText(list corev1.ResourceList) string {
	var parts []string
	for name, amount := range list {
		parts = append(parts, string(name)+"="+amount.String())
	}
	slices.Sort(parts)
	return dash(strings.Join(parts, ","))
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
