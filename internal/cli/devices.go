package cli

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/render"
)

// IsGPU calls render.IsGPU for a resource name given as a string.
func IsGPU(name string) bool { return render.IsGPU(corev1.ResourceName(name)) }

// ShortResource calls render.ShortResource.
func ShortResource(name corev1.ResourceName) string { return render.ShortResource(name) }
