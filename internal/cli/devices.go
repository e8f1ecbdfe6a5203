package cli

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/render"
)

// ShortResource calls render.ShortResource.
func ShortResource(name corev1.ResourceName) string { return render.ShortResource(name) }
