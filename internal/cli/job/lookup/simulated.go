package lookup

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
)

// kindSimulated is the value of keys.NodeKind on simulated nodes.
const kindSimulated = "simulated"

// SimulatedPods collects the pods that have no logs because their node is simulated.
type SimulatedPods struct {
	// kind caches the value of keys.NodeKind by node name.
	kind map[string]string
	// Pods lists the collected pods.
	Pods []*corev1.Pod
}

// Collect reports whether the pod runs on a simulated node, and collects the pod if so. If the node cannot be read,
// Collect returns false.
func (s *SimulatedPods) Collect(ctx context.Context, c client.Client, pod *corev1.Pod) bool {
	if !s.IsNodeSimulated(ctx, c, pod.Spec.NodeName) {
		return false
	}
	if len(s.Pods) == 0 || s.Pods[len(s.Pods)-1] != pod {
		s.Pods = append(s.Pods, pod)
	}
	return true
}

// IsNodeSimulated reports whether a node is simulated; it reads each node only once.
func (s *SimulatedPods) IsNodeSimulated(ctx context.Context, c client.Client, name string) bool {
	kind, known := s.kind[name]
	if !known && name != "" {
		node := &corev1.Node{}
		if c.Get(ctx, types.NamespacedName{Name: name}, node) == nil {
			kind = node.Labels[keys.NodeKind]
		}
		if s.kind == nil {
			s.kind = map[string]string{}
		}
		s.kind[name] = kind
	}
	return kind == kindSimulated
}

// NothingRunsText returns the message about a pod on a simulated node.
func NothingRunsText(pod *corev1.Pod) string {
	return fmt.Sprintf("pod %s is on simulated node %s, which does not run containers", pod.Name, pod.Spec.NodeName)
}
