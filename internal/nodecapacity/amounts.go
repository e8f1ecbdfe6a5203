package nodecapacity

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
)

// Amounts holds milli-CPU, bytes of memory, and numbers of devices by name.
type Amounts struct {
	MilliCPU, MemoryBytes int64
	Devices               map[corev1.ResourceName]int64
}

// Add adds sign times b.
func (a *Amounts) Add(b Amounts, sign int64) {
	a.MilliCPU += sign * b.MilliCPU
	a.MemoryBytes += sign * b.MemoryBytes
	for name, amount := range b.Devices {
		if a.Devices == nil {
			a.Devices = map[corev1.ResourceName]int64{}
		}
		a.Devices[name] += sign * amount
	}
}

// AmountOfResource returns the amount of one resource: milli-CPU, bytes, or units of a device.
func (a *Amounts) AmountOfResource(name corev1.ResourceName) int64 {
	switch name {
	case corev1.ResourceCPU:
		return a.MilliCPU
	case corev1.ResourceMemory:
		return a.MemoryBytes
	}
	return a.Devices[name]
}

// isDevice reports whether a resource is an extended resource, such as a GPU or a network card.
func isDevice(name corev1.ResourceName) bool {
	return strings.Contains(string(name), "/") && !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// AmountsFromList returns the amounts in a list.
func AmountsFromList(list corev1.ResourceList) Amounts {
	a := Amounts{MilliCPU: list.Cpu().MilliValue(), MemoryBytes: list.Memory().Value(), Devices: map[corev1.ResourceName]int64{}}
	for name, amount := range list {
		if isDevice(name) {
			a.Devices[name] = amount.Value()
		}
	}
	return a
}

// RequestedByPod returns the amounts that a pod requests, or zero if the pod has ended.
func RequestedByPod(pod *corev1.Pod) Amounts {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return Amounts{}
	}
	return AmountsFromList(resource.PodRequests(pod, resource.PodResourcesOptions{}))
}
