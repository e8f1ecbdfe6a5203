package act

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cordon says of a node whether pods may be put on it.
func (c *Cluster) Cordon(ctx context.Context, name string, cordoned bool) (said string, err error) {
	node := &corev1.Node{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return "", err
	}
	done := "uncordoned"
	if cordoned {
		done = "cordoned"
	}
	if node.Spec.Unschedulable == cordoned {
		return fmt.Sprintf("node %s is %s already", name, done), nil
	}
	patch := fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, cordoned)
	return fmt.Sprintf("node %s %s", name, done), c.Client.Patch(ctx, node, client.RawPatch(mergePatch, []byte(patch)))
}

// Stays says why a drain leaves a pod on its node; "" when it goes.
func Stays(pod *corev1.Pod) string {
	owner := metav1.GetControllerOf(pod)
	switch {
	case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return "has ended"
	case pod.Annotations[corev1.MirrorPodAnnotationKey] != "":
		return "belongs to the node itself"
	case owner != nil && owner.Kind == "DaemonSet":
		return "is of a DaemonSet"
	}
	return ""
}

// Drain cordons a node and asks its pods to leave. Those that a disruption budget keeps are told; they can be asked again.
func (c *Cluster) Drain(ctx context.Context, name string) (said string, err error) {
	if _, err := c.Cordon(ctx, name, true); err != nil {
		return "", err
	}
	pods, err := c.Typed.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", name).String()})
	if err != nil {
		return "", err
	}
	left, kept := 0, []string{}
	var problems []error
	for i := range pods.Items {
		pod := &pods.Items[i]
		if Stays(pod) != "" || pod.DeletionTimestamp != nil {
			continue
		}
		err := c.Typed.CoreV1().Pods(pod.Namespace).EvictV1(ctx, &policyv1.Eviction{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}, DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
		})
		switch {
		case err == nil:
			left++
		case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		case apierrors.IsTooManyRequests(err):
			kept = append(kept, pod.Namespace+"/"+pod.Name)
		default:
			problems = append(problems, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err))
		}
	}
	return drained(name, left, kept), errors.Join(problems...)
}

func drained(node string, left int, kept []string) string {
	text := fmt.Sprintf("node %s cordoned; ", node)
	switch left {
	case 0:
		text += "no pod had to leave"
	case 1:
		text += "1 pod is leaving"
	default:
		text += fmt.Sprintf("%d pods are leaving", left)
	}
	if len(kept) > 0 {
		text += "; kept by disruption budgets: " + strings.Join(kept[:min(3, len(kept))], ", ")
		if more := len(kept) - 3; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		text += "; drain again later"
	}
	return text
}
