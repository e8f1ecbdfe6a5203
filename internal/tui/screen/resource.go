package screen

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/snapshot"
)

// Resources are what heat maps and bars can show, in the order in which "m" goes
// through them: devices first, since they are what is short.
func Resources(snap *snapshot.Snapshot) []string {
	var all []string
	for _, name := range snap.Resources {
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory {
			all = append(all, string(name))
		}
	}
	return append(all, "cpu", "memory", "pods")
}

// ShownResource is Context.Resource, or the first of Resources while none was chosen.
func (ctx *Context) ShownResource() string {
	all := Resources(ctx.Snap)
	for _, name := range all {
		if name == ctx.Resource {
			return name
		}
	}
	return all[0]
}

// NextResource is the one that "m" goes to.
func (ctx *Context) NextResource() string {
	all := Resources(ctx.Snap)
	now := ctx.ShownResource()
	for i, name := range all {
		if name == now {
			return all[(i+1)%len(all)]
		}
	}
	return all[0]
}

// ShortResource is what a resource is called where there is little room:
// nvidia.com/gpu is gpu, memory is mem.
func ShortResource(name string) string {
	if name == "memory" {
		return "mem"
	}
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		return name[at+1:]
	}
	return name
}
