package model

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/vc-batch/vc/api/keys"
)

// Container is the part of a container that matters for placement. Only pods that request shared devices or are
// Pinned have Containers. They then include all containers of the pod in the order of its spec, init containers
// first.
type Container struct {
	Name string
	// Init is true if the container ends before the others start. Sidecar is true for an init container that keeps
	// running.
	Init, Sidecar bool
	MilliCPU      int64
	Devices       []Amount // shared devices only
}

// DeviceAmount returns the amount of a shared device's resource that the container requests.
func (c *Container) DeviceAmount(name corev1.ResourceName) (value int64, asked bool) {
	for _, a := range c.Devices {
		if a.Name == name {
			return a.Value, true
		}
	}
	return 0, false
}

// IsSharedDevice reports whether a resource belongs to devices that pods share. Only the deviceshare policy can place
// pods that request them.
func IsSharedDevice(name corev1.ResourceName) bool {
	return name == keys.GPUMemory || name == keys.GPUNumber || strings.HasPrefix(string(name), "volcano.sh/vgpu-")
}

// sharedDevices returns the amounts of shared devices in a list, sorted by name.
func sharedDevices(list corev1.ResourceList, convert rounding) []Amount {
	var out []Amount
	for name, q := range list {
		if IsSharedDevice(name) {
			out = append(out, Amount{Name: name, Value: convert(name, q)})
		}
	}
	slices.SortFunc(out, compareByName)
	return out
}

// placing lists the annotations that constrain where a pod may run, or prefer some nodes.
var placing = []string{
	keys.VGPUUseType, keys.VGPUNoUseType, keys.VGPUUseUUID, keys.VGPUNoUseUUID, keys.VGPUMode, keys.VGPUPodGroupPolicy,
	keys.NumaPolicy, keys.RevocableZone, keys.Preemptable, keys.StrategyType, keys.StrategyWeight,
}

// setDetails sets the fields of a shape that only some pods need.
func setDetails(shape *ShapeSpec, pod *corev1.Pod) {
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
	shape.LimitMilliCPU = roundUpAmount(corev1.ResourceCPU, limits[corev1.ResourceCPU])
	shape.LimitMemoryBytes = roundUpAmount(corev1.ResourceMemory, limits[corev1.ResourceMemory])
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
					if IsSharedDevice(name) {
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
		made.MilliCPU = roundUpAmount(corev1.ResourceCPU, c.Resources.Requests[corev1.ResourceCPU])
		if made.MilliCPU == 0 {
			made.MilliCPU = roundUpAmount(corev1.ResourceCPU, c.Resources.Limits[corev1.ResourceCPU])
		}
		made.Devices = sharedDevices(c.Resources.Limits, roundUpAmount)
		for _, a := range sharedDevices(c.Resources.Requests, roundUpAmount) {
			if _, has := made.DeviceAmount(a.Name); !has {
				made.Devices = append(made.Devices, a)
			}
		}
		slices.SortFunc(made.Devices, compareByName)
		out = append(out, made)
	}
	return out
}

// isGuaranteed reports whether a container has limits for CPU and memory, and requests as much.
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
			milli := roundUpAmount(corev1.ResourceCPU, cpu)
			whole = whole || milli > 0 && milli%1000 == 0
		}
	}
	return whole
}

// appendDetails appends the fields that only some pods need to a shape's key.
func (s *ShapeSpec) appendDetails(b []byte) []byte {
	if s.LimitMilliCPU|s.LimitMemoryBytes != 0 {
		b = append(strconv.AppendInt(append(b, "|lc"...), s.LimitMilliCPU, 10), 'm')
		b = strconv.AppendInt(b, s.LimitMemoryBytes, 10)
	}
	if len(s.Notes) > 0 {
		b = appendMapKey(append(b, "|no"...), s.Notes)
	}
	if len(s.Containers) == 0 {
		return b
	}
	b = strconv.AppendBool(append(b, "|co"...), s.Pinned)
	for i := range s.Containers {
		c := &s.Containers[i]
		b = append(append(append(b, '|'), c.Name...), '=')
		b = strconv.AppendBool(strconv.AppendBool(b, c.Init), c.Sidecar)
		b = strconv.AppendInt(append(b, ','), c.MilliCPU, 10)
		for _, a := range c.Devices {
			b = append(append(append(b, ';'), a.Name...), '=')
			b = strconv.AppendInt(b, a.Value, 10)
		}
	}
	return b
}

// mergeAnnotations sets the task's annotations to those that were last read. While a binding is assumed, it adds the
// annotations that are written with the binding.
func (t *Task) mergeAnnotations() {
	t.Annotations = t.seen.notes
	if t.assumedNode == NoNode {
		t.assumedNotes = nil
		return
	}
	if len(t.assumedNotes) == 0 {
		return
	}
	all := make(map[string]string, len(t.seen.notes)+len(t.assumedNotes))
	for k, v := range t.seen.notes {
		all[k] = v
	}
	for k, v := range t.assumedNotes {
		all[k] = v
	}
	t.Annotations = all
}

// Ceil converts a quantity to the model's unit and rounds up, as for a pod's request.
func Ceil(name corev1.ResourceName, q resource.Quantity) int64 { return roundUpAmount(name, q) }
