package environ

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// FieldValue returns the value of a downward API field path, such as metadata.name or metadata.labels['app'].
func FieldValue(pod *corev1.Pod, path string, facts Facts) (string, error) {
	if base, key, ok := splitSubscript(path); ok {
		switch base {
		case "metadata.labels":
			return pod.Labels[key], nil
		case "metadata.annotations":
			return pod.Annotations[key], nil
		}
	}
	switch path {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "metadata.labels":
		return mapLines(pod.Labels), nil
	case "metadata.annotations":
		return mapLines(pod.Annotations), nil
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.hostIP", "status.hostIPs":
		return facts.HostIP, nil
	case "status.podIP", "status.podIPs":
		return facts.PodIP, nil
	}
	return "", fmt.Errorf("field path %q is not one of the downward API's", path)
}

func splitSubscript(path string) (base, key string, ok bool) {
	base, rest, found := strings.Cut(path, "['")
	if !found || !strings.HasSuffix(rest, "']") {
		return "", "", false
	}
	return base, strings.TrimSuffix(rest, "']"), true
}

// mapLines returns a line of the form key="value" for each entry, sorted by key.
func mapLines(m map[string]string) string {
	lines := make([]string, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		lines = append(lines, key+"="+strconv.Quote(m[key]))
	}
	return strings.Join(lines, "\n")
}

// ResourceField returns a container's request or limit in units of the divisor, rounded up. If a limit is missing,
// the node's allocatable amount is used.
func ResourceField(pod *corev1.Pod, container *corev1.Container, selector *corev1.ResourceFieldSelector, facts Facts) (string, error) {
	if selector.ContainerName != "" {
		found := false
		for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for i := range list {
				if list[i].Name == selector.ContainerName {
					container, found = &list[i], true
				}
			}
		}
		if !found {
			return "", fmt.Errorf("container %q not found", selector.ContainerName)
		}
	}
	if container == nil {
		return "", fmt.Errorf("resource %q: no container is named", selector.Resource)
	}
	kind, name, found := strings.Cut(selector.Resource, ".")
	if !found || (kind != "limits" && kind != "requests") {
		return "", fmt.Errorf("resource %q is neither limits.… nor requests.…", selector.Resource)
	}
	quantity := container.Resources.Requests[corev1.ResourceName(name)]
	if kind == "limits" {
		limit, set := container.Resources.Limits[corev1.ResourceName(name)]
		if !set || limit.IsZero() {
			limit = facts.Allocatable[corev1.ResourceName(name)]
		}
		quantity = limit
	}
	return divideQuantity(quantity, selector.Divisor, name == string(corev1.ResourceCPU)), nil
}

func divideQuantity(quantity, divisor resource.Quantity, milli bool) string {
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	if milli {
		return strconv.FormatInt(int64(math.Ceil(float64(quantity.MilliValue())/float64(divisor.MilliValue()))), 10)
	}
	return strconv.FormatInt(int64(math.Ceil(float64(quantity.Value())/float64(divisor.Value()))), 10)
}
