// Package quotausage computes how much of a quota a pod uses. The results have the resource names that quotas use.
package quotausage

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
)

// countPods is the quota key for the number of pod objects.
const countPods corev1.ResourceName = "count/pods"

// UsageOfPod returns the quota usage of a pod with the given spec. It lists cpu, memory and ephemeral-storage without a
// prefix and with the prefixes "requests." and "limits.", and other resources without a prefix and with "requests.";
// pods and count/pods are 1. For the init containers, only the largest request counts. The pod overhead is included.
func UsageOfPod(spec *corev1.PodSpec) corev1.ResourceList {
	pod := &corev1.Pod{Spec: withRequests(spec)}
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	limits := resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{})
	one := resource.MustParse("1")
	total := corev1.ResourceList{corev1.ResourcePods: one, countPods: one}
	for name, quantity := range requests {
		total[name] = quantity
		if !strings.HasPrefix(string(name), "requests.") {
			total["requests."+name] = quantity
		}
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		if quantity, set := limits[name]; set {
			total["limits."+name] = quantity
		}
	}
	return total
}

// withRequests copies the fields that affect usage, and sets each missing request to the limit. The API server does
// the same for pods, but not for pod templates.
func withRequests(spec *corev1.PodSpec) corev1.PodSpec {
	return corev1.PodSpec{
		Overhead: spec.Overhead, Resources: spec.Resources,
		Containers: fillRequests(spec.Containers), InitContainers: fillRequests(spec.InitContainers),
	}
}

func fillRequests(containers []corev1.Container) []corev1.Container {
	filled := make([]corev1.Container, len(containers))
	for i, c := range containers {
		requests := corev1.ResourceList{}
		maps.Copy(requests, c.Resources.Limits)
		maps.Copy(requests, c.Resources.Requests)
		filled[i] = corev1.Container{Name: c.Name, RestartPolicy: c.RestartPolicy,
			Resources: corev1.ResourceRequirements{Requests: requests, Limits: c.Resources.Limits}}
	}
	return filled
}

// Add adds one, multiplied by n, to total.
func Add(total, one corev1.ResourceList, n int32) {
	for name, quantity := range one {
		sum := total[name]
		times := quantity.DeepCopy()
		times.Mul(int64(n))
		sum.Add(times)
		total[name] = sum
	}
}
