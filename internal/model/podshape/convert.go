package podshape

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/vc-batch/vc/internal/model/resource"
)

// SpecFrom returns the spec of a pod.
func SpecFrom(pod *corev1.Pod) Spec {
	spec := &pod.Spec
	shape := Spec{
		Requests:     requestsFrom(pod),
		NodeSelector: spec.NodeSelector,
		Tolerations:  spec.Tolerations,
		Ports:        hostPortsFrom(spec),
	}
	shape.Images, shape.ImageCount = imagesFrom(spec)
	if a := spec.Affinity; a != nil {
		shape.NodeAffinity, shape.PodAffinity, shape.PodAntiAffinity = a.NodeAffinity, a.PodAffinity, a.PodAntiAffinity
	}
	shape.Spread = spec.TopologySpreadConstraints
	if shape.PodAffinity != nil || shape.PodAntiAffinity != nil || len(shape.Spread) > 0 {
		shape.Namespace, shape.Labels = pod.Namespace, selfSelectedLabels(&shape, pod.Labels)
	}
	shape.Attached = attachedFrom(pod)
	shape.Unsupported = unsupportedFeatures(spec)
	setDetails(&shape, pod)
	return shape
}

func requestsFrom(pod *corev1.Pod) []resource.Amount {
	list := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{UseStatusResources: pod.Spec.NodeName != ""})
	out := resource.AmountsFrom(list, resource.RoundUp)
	out = slices.DeleteFunc(out, func(a resource.Amount) bool { return a.Value == 0 || a.Name == corev1.ResourcePods })
	out = append(out, resource.Amount{Name: corev1.ResourcePods, Value: 1})
	slices.SortFunc(out, resource.CompareByName)
	return out
}

// hostPortsFrom returns the ports that a pod's containers take on their node.
func hostPortsFrom(spec *corev1.PodSpec) []Port {
	var ports []Port
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			for k := range containers[i].Ports {
				if port := hostPortFrom(&containers[i].Ports[k], spec.HostNetwork); port.Number != 0 {
					ports = append(ports, port)
				}
			}
		}
	}
	return ports
}

// hostPortFrom returns the port that a container port takes on the node. Its number is 0 if it takes none.
func hostPortFrom(p *corev1.ContainerPort, hostNetwork bool) Port {
	port := Port{IP: p.HostIP, Protocol: cmp.Or(p.Protocol, corev1.ProtocolTCP), Number: p.HostPort}
	if hostNetwork {
		port.Number = cmp.Or(p.HostPort, p.ContainerPort)
	}
	if port.IP == "0.0.0.0" || port.IP == "::" {
		port.IP = ""
	}
	return port
}

// unsupportedFeatures lists the parts of a pod that only Kubernetes' own plugins can check.
func unsupportedFeatures(spec *corev1.PodSpec) []string {
	var out []string
	if len(spec.ResourceClaims) > 0 {
		out = append(out, "resource claims")
	}
	for i := range spec.Volumes {
		if v := &spec.Volumes[i]; v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			out = append(out, "volume claims")
			break
		}
	}
	return out
}
