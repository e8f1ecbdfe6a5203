package node

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
)

// assignedTo returns a list option that selects the pods assigned to the named node or, if name is empty, to any node.
func assignedTo(name string) client.ListOption {
	where := fields.OneTermNotEqualSelector("spec.nodeName", "")
	if name != "" {
		where = fields.OneTermEqualSelector("spec.nodeName", name)
	}
	return client.MatchingFieldsSelector{Selector: fields.AndSelectors(
		fields.OneTermNotEqualSelector("status.phase", "Succeeded"), fields.OneTermNotEqualSelector("status.phase", "Failed"), where)}
}

// ReadPods lists the pods assigned to the named node or, if name is empty, to any node. It reduces each pod to the
// fields that are needed to sum up its resources. version is the resource version from which to watch the pods.
func ReadPods(ctx context.Context, c client.Reader, name string) (pods []*corev1.Pod, version string, err error) {
	page := &corev1.PodList{}
	err = cli.ListPages(ctx, c, page, func() error {
		for i := range page.Items {
			pods = append(pods, slimPod(&page.Items[i]))
		}
		return nil
	}, assignedTo(name))
	return pods, page.ResourceVersion, err
}

// ReadNodes lists all nodes.
func ReadNodes(ctx context.Context, c client.Reader) ([]*corev1.Node, error) {
	return cli.ListObjects[*corev1.Node](ctx, c, &corev1.NodeList{})
}

// slimPod reduces a pod to the fields that are needed to sum up its resources.
func slimPod(pod *corev1.Pod) *corev1.Pod {
	kept := &corev1.Pod{}
	kept.UID = pod.UID
	kept.Spec.NodeName = pod.Spec.NodeName
	kept.Status.Phase = pod.Status.Phase
	kept.Status.Conditions = pod.Status.Conditions
	kept.Spec.Overhead = pod.Spec.Overhead
	kept.Spec.Resources = pod.Spec.Resources
	kept.Spec.Containers = keepResourcesOnly(pod.Spec.Containers)
	kept.Spec.InitContainers = keepResourcesOnly(pod.Spec.InitContainers)
	return kept
}

func keepResourcesOnly(containers []corev1.Container) []corev1.Container {
	kept := make([]corev1.Container, len(containers))
	for i := range containers {
		kept[i].Name = containers[i].Name
		kept[i].Resources = containers[i].Resources
		kept[i].RestartPolicy = containers[i].RestartPolicy
	}
	return kept
}
