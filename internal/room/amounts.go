package room

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
)

// Amounts are milli-cpu, bytes of memory, and units of devices by their names.
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

// Of is the amount of one resource: milli-cpu, bytes, or units of a device.
func (a *Amounts) Of(name corev1.ResourceName) int64 {
	switch name {
	case corev1.ResourceCPU:
		return a.MilliCPU
	case corev1.ResourceMemory:
		return a.MemoryBytes
	}
	return a.Devices[name]
}

// isDevice says whether a resource is one that somebody added to a node: a GPU, a network card.
func isDevice(name corev1.ResourceName) bool {
	return strings.Contains(string(name), "/") && !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// From reads the amounts of a list.
func From(list corev1.ResourceList) Amounts {
	a := Amounts{MilliCPU: list.Cpu().MilliValue(), MemoryBytes: list.Memory().Value(), Devices: map[corev1.ResourceName]int64{}}
	for name, amount := range list {
		if isDevice(name) {
			a.Devices[name] = amount.Value()
		}
	}
	return a
}

// Asked is what a pod holds on its node; nothing when it has ended.
func Asked(pod *corev1.Pod) Amounts {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return Amounts{}
	}
	return From(resource.PodRequests(pod, resource.PodResourcesOptions{}))
}
