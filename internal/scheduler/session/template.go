package session

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// AllowsTemplate reports whether pods that do not exist yet may run on a node, ignoring other pods.
func (s *Session) AllowsTemplate(id model.NodeID, d *framework.Template) bool {
	if d.Placements == nil {
		return s.allowsRequest(id, d.Request)
	}
	return slices.ContainsFunc(d.Placements, func(p *model.Shape) bool { return s.Judge.IsAllowed(p, id) })
}

// allowsRequest reports whether pods may be placed on a node if only their requests are known. Pods that request no
// device are excluded from nodes with taints, because devices are the usual reason for taints, and pods that request a
// device tolerate them.
func (s *Session) allowsRequest(id model.NodeID, each resource.Request) bool {
	info := s.View.Nodes.Info[id]
	if info.Unschedulable {
		return false
	}
	return len(info.Taints) == 0 || slices.ContainsFunc(each, func(t resource.Term) bool { return isDevice(s.Cluster.Resources.Name(int(t.Index))) })
}

// isDevice reports whether a resource has a name with a domain, such as nvidia.com/gpu.
func isDevice(name string) bool { return strings.Contains(name, "/") }
