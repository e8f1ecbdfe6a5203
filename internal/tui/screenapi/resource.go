package screenapi

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/snapshot"
)

// ShownResources returns the resources that heat maps and bars can show, in the order in which "m" cycles through them.
// Devices come first, because they are usually the scarce resources.
func ShownResources(snap *snapshot.Snapshot) []string {
	var all []string
	for _, name := range snap.Resources {
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory {
			all = append(all, string(name))
		}
	}
	return append(all, "cpu", "memory", "pods")
}

// ShownResource returns Context.Resource or, if none is chosen, the first of ShownResources.
func (ctx *Context) ShownResource() string {
	all := ShownResources(ctx.Snap)
	for _, name := range all {
		if name == ctx.Resource {
			return name
		}
	}
	return all[0]
}

// NextResource returns the resource that "m" switches to.
func (ctx *Context) NextResource() string {
	all := ShownResources(ctx.Snap)
	now := ctx.ShownResource()
	for i, name := range all {
		if name == now {
			return all[(i+1)%len(all)]
		}
	}
	return all[0]
}

// ShortResource returns the short name of a resource, for example gpu for nvidia.com/gpu, or mem for memory.
func ShortResource(name string) string {
	if name == "memory" {
		return "mem"
	}
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		return name[at+1:]
	}
	return name
}
