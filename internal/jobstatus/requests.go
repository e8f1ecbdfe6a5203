package jobstatus

import (
	corev1 "k8s.io/api/core/v1"
)

// AddRequests adds the requests of a container to sum. If a resource has a limit but no request, the limit is used.
func AddRequests(sum corev1.ResourceList, resources corev1.ResourceRequirements) {
	add := func(name corev1.ResourceName) {
		amount, given := resources.Requests[name]
		if !given {
			amount = resources.Limits[name]
		}
		total := sum[name]
		total.Add(amount)
		sum[name] = total
	}
	names := map[corev1.ResourceName]bool{}
	for name := range resources.Requests {
		names[name] = true
	}
	for name := range resources.Limits {
		names[name] = true
	}
	for name := range names {
		add(name)
	}
}

// RequestsText returns the total requests of a pod's containers.
func RequestsText(spec *corev1.PodSpec) string {
	sum := corev1.ResourceList{}
	for i := range spec.Containers {
		AddRequests(sum, spec.Containers[i].Resources)
	}
	return ResourceText(sum)
}
