package podgroup

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/render"
)

// mostPods is the maximum number of pods to inspect in a namespace when the pods of a group cannot be selected by
// label.
const mostPods = 4 * cli.PageSize

// members holds the pods of a group; more is true if not all pods in the namespace were inspected.
type members struct {
	pods []*corev1.Pod
	more bool
}

// findGroupPods finds the pods of a group. It selects the pods of a job by label, and a pod that owns its group by
// name. It inspects all other pods, because they specify their group in an annotation, which a list request cannot
// select.
func findGroupPods(ctx context.Context, c client.Client, g podGroup) (members, error) {
	owner := controllerOf(g)
	switch {
	case owner != nil && owner.Kind == "Pod":
		pod := &corev1.Pod{}
		err := c.Get(ctx, client.ObjectKey{Namespace: g.Namespace, Name: owner.Name}, pod)
		if err != nil || pod.UID != owner.UID {
			return members{}, ignoreUnavailable(err)
		}
		return members{pods: []*corev1.Pod{pod}}, nil
	case owner != nil && owner.Kind == "Job" && owner.APIVersion != "batch/v1":
		return listGroupPods(ctx, c, g, 0, client.MatchingLabels{keys.JobName: owner.Name})
	}
	return listGroupPods(ctx, c, g, mostPods)
}

// ignoreUnavailable ignores errors about objects that do not exist or that the user may not read.
func ignoreUnavailable(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

// listGroupPods finds the group's pods among the pods in its namespace that match the options. It inspects no more than
// most pods; if most is 0, it inspects all pods.
func listGroupPods(ctx context.Context, c client.Client, g podGroup, most int, options ...client.ListOption) (members, error) {
	var found members
	seen, next := 0, ""
	for {
		page := &corev1.PodList{}
		all := append([]client.ListOption{client.InNamespace(g.Namespace), client.Limit(cli.PageSize), client.Continue(next)}, options...)
		if err := c.List(ctx, page, all...); err != nil {
			return found, ignoreUnavailable(err)
		}
		for i := range page.Items {
			if keys.PodGroupOf(page.Items[i].Annotations) == g.Name || (most == 0 && keys.PodGroupOf(page.Items[i].Annotations) == "") {
				found.pods = append(found.pods, page.Items[i].DeepCopy())
			}
		}
		seen, next = seen+len(page.Items), page.Continue
		if next == "" {
			return found, nil
		}
		if most > 0 && seen >= most {
			found.more = true
			return found, nil
		}
	}
}

func newPodTable(pods []*corev1.Pod, style render.Style, now time.Time) render.Table {
	table := render.Table{Header: []string{"NAME", "READY", "STATUS", "RESTARTS", "AGE", "NODE"}}
	table.SetSpareColumns("RESTARTS", "AGE", "NODE")
	for _, pod := range pods {
		node := pod.Spec.NodeName
		if node == "" {
			node = "-"
		}
		table.Rows = append(table.Rows, []string{pod.Name, cli.PodReady(pod), style.PaintPhase(cli.PodStatus(pod)), cli.PodRestarts(pod, now),
			render.FormatAgeSince(now, pod.CreationTimestamp.Time), node})
	}
	return table
}

// objectDescriber returns a function that describes the object of an event.
func objectDescriber(g podGroup) func(*corev1.Event) string {
	return func(event *corev1.Event) string {
		if event.InvolvedObject.UID == g.UID {
			return "pod group"
		}
		return event.InvolvedObject.Name
	}
}
