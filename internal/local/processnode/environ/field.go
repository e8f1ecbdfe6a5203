package environ

import (
	corev1 "k8s.io/api/core/v1"
	podresource "k8s.io/kubernetes/pkg/api/v1/resource"
	"k8s.io/kubernetes/pkg/fieldpath"
)

// FieldValue returns the value of a downward API field path, such as metadata.name or metadata.labels['app'].
func FieldValue(pod *corev1.Pod, path string, facts Facts) (string, error) {
	switch path {
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.hostIP", "status.hostIPs":
		return facts.HostIP, nil
	case "status.podIP", "status.podIPs":
		return facts.PodIP, nil
	}
	return fieldpath.ExtractFieldPathAsString(pod, path)
}

// ResourceField returns a container's request or limit in units of the divisor, rounded up. container is used if the
// selector does not name one. If a limit is missing, the node's allocatable amount is used.
func ResourceField(pod *corev1.Pod, container string, selector *corev1.ResourceFieldSelector, facts Facts) (string, error) {
	if selector.ContainerName != "" {
		container = selector.ContainerName
	}
	return podresource.ExtractResourceValueByContainerNameAndNodeAllocatable(selector, pod, container, facts.Allocatable)
}
