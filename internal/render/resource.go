package render

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// IsGPU says whether a resource counts whole GPUs, whoever makes them. Memory and
// percentages of GPUs are not counted.
func IsGPU(name corev1.ResourceName) bool {
	_, kind, found := strings.Cut(string(name), "/")
	return found && (kind == "gpu" || kind == "gpu-number" || kind == "vgpu-number" || strings.HasPrefix(kind, "mig-"))
}

// ShortResource is the name of a resource without the domain of who makes it: gpu of nvidia.com/gpu.
func ShortResource(name corev1.ResourceName) string {
	text := string(name)
	return text[strings.LastIndex(text, "/")+1:]
}
