package render

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// IsGPU reports whether a resource counts whole GPUs of any vendor, not their memory or percentages of them.
func IsGPU(name corev1.ResourceName) bool {
	_, kind, found := strings.Cut(string(name), "/")
	if !found {
		return false
	}
	switch kind {
	case "gpu", "gpu-number", "vgpu-number":
		return true
	}
	return strings.HasPrefix(kind, "mig-")
}

// ShortResource returns the name of a resource without the vendor's domain: gpu for nvidia.com/gpu.
func ShortResource(name corev1.ResourceName) string {
	text := string(name)
	return text[strings.LastIndex(text, "/")+1:]
}
