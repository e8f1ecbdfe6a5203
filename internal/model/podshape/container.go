package podshape

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model/resource"
)

// Container is the part of a container that matters for placement. Containers are recorded only for pods that request
// shared devices or are Pinned. They then include all containers of the pod, init containers first, in the order of
// the pod's spec.
type Container struct {
	Name string
	// Init is true if the container ends before the others start. Sidecar is true for an init container that keeps
	// running.
	Init, Sidecar bool
	MilliCPU      int64
	Devices       []resource.Amount // shared devices only
}

// DeviceAmount returns how much of a shared device's resource the container requests.
func (c *Container) DeviceAmount(name corev1.ResourceName) (value int64, asked bool) {
	for _, a := range c.Devices {
		if a.Name == name {
			return a.Value, true
		}
	}
	return 0, false
}

// placing lists the annotations that constrain where a pod may run, or prefer some nodes.
var placing = []string{
	keys.VGPUUseType, keys.VGPUNoUseType, keys.VGPUUseUUID, keys.VGPUNoUseUUID, keys.VGPUMode, keys.VGPUPodGroupPolicy,
	keys.NumaPolicy, keys.RevocableZone, keys.Preemptable, keys.StrategyType, keys.StrategyWeight,
}

// setDetails sets the fields of a shape that only some pods need.
func setDetails(shape *Spec, pod *corev1.Pod) {
	spec := &pod.Spec
	if shares := requestsSharedDevices(spec); shares || needsPinnedCPUs(pod) {
		shape.Pinned = needsPinnedCPUs(pod)
		shape.Containers = append(containersFrom(spec.InitContainers, true), containersFrom(spec.Containers, false)...)
	}
	for _, key := range placing {
		if value, ok := pod.Annotations[key]; ok {
			if shape.Notes == nil {
				shape.Notes = map[string]string{}
			}
			shape.Notes[key] = value
		}
	}
	if !hasContainerLimits(spec) {
		return
	}
	limits := resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{})
	shape.LimitMilliCPU = resource.RoundUp(corev1.ResourceCPU, limits[corev1.ResourceCPU])
	shape.LimitMemoryBytes = resource.RoundUp(corev1.ResourceMemory, limits[corev1.ResourceMemory])
}

func hasContainerLimits(spec *corev1.PodSpec) bool {
	has := func(c corev1.Container) bool { return len(c.Resources.Limits) > 0 }
	return spec.Resources != nil || slices.ContainsFunc(spec.Containers, has) || slices.ContainsFunc(spec.InitContainers, has)
}

func requestsSharedDevices(spec *corev1.PodSpec) bool {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			for _, asked := range []corev1.ResourceList{list[i].Resources.Limits, list[i].Resources.Requests} {
				for name := range asked {
					if resource.IsSharedDevice(name) {
						return true
					}
				}
			}
		}
	}
	return false
}

func containersFrom(list []corev1.Container, init bool) []Container {
	out := make([]Container, 0, len(list))
	for i := range list {
		c := &list[i]
		sidecar := init && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		made := Container{Name: c.Name, Init: init && !sidecar, Sidecar: sidecar}
		made.MilliCPU = resource.RoundUp(corev1.ResourceCPU, c.Resources.Requests[corev1.ResourceCPU])
		if made.MilliCPU == 0 {
			made.MilliCPU = resource.RoundUp(corev1.ResourceCPU, c.Resources.Limits[corev1.ResourceCPU])
		}
		made.Devices = resource.SharedDevices(c.Resources.Limits, resource.RoundUp)
		for _, a := range resource.SharedDevices(c.Resources.Requests, resource.RoundUp) {
			if _, has := made.DeviceAmount(a.Name); !has {
				made.Devices = append(made.Devices, a)
			}
		}
		slices.SortFunc(made.Devices, resource.CompareByName)
		out = append(out, made)
	}
	return out
}

// isGuaranteed reports whether a container has limits for cpu and memory, and requests no other amounts of them.
func isGuaranteed(r *corev1.ResourceRequirements) bool {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		limit, limited := r.Limits[name]
		if !limited || limit.Sign() <= 0 {
			return false
		}
		if request, given := r.Requests[name]; given && request.Cmp(limit) != 0 {
			return false
		}
	}
	return true
}

// needsPinnedCPUs reports whether a pod has QoS class Guaranteed and a container that requests whole CPUs.
func needsPinnedCPUs(pod *corev1.Pod) bool {
	class := pod.Status.QOSClass
	if class != "" && class != corev1.PodQOSGuaranteed {
		return false
	}
	whole := false
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if class == "" && !isGuaranteed(&list[i].Resources) {
				return false
			}
			cpu := list[i].Resources.Limits[corev1.ResourceCPU]
			milli := resource.RoundUp(corev1.ResourceCPU, cpu)
			whole = whole || (milli > 0 && milli%1000 == 0)
		}
	}
	return whole
}
