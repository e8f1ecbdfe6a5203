package cycle

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// mayRunOn reports whether pods that do not exist yet may run on a node, ignoring other pods.
func (s *Cycle) mayRunOn(id model.NodeID, d *framework.Template) bool {
	if d.Placements == nil {
		return s.acceptsCandidates(id, d.Request)
	}
	return slices.ContainsFunc(d.Placements, func(p *model.Shape) bool { return s.Judge.IsAllowed(p, id) })
}

// templatesFit reports whether the pods of a gang that has none yet would find nodes if no gang ran, counting each
// task as if there were no others. It returns true if this is unknown.
func (s *Cycle) templatesFit(j *framework.Job) bool {
	if len(j.Tasks) > 0 || j.PlacementShape("") == nil || len(s.View.Order) == 0 {
		return true
	}
	stamp := s.syncEmptyNodes()
	if k := &j.Alone; k.Gen != j.Gen || k.Stamp != stamp || !k.Decided {
		*k = framework.FitAlone{Gen: j.Gen, Stamp: stamp, Could: s.countTemplates(j), Decided: true}
	}
	return j.Alone.Could
}

func (s *Cycle) countTemplates(j *framework.Job) bool {
	list, exact := j.PodTemplates()
	if !exact {
		return true
	}
	return !slices.ContainsFunc(list, func(d framework.Template) bool { return s.countEmptySlots(d.Placements, d.Request) < d.Count })
}

// acceptsCandidates reports whether pods may be placed on a node if only their requests are known. Pods that request
// no device are excluded from nodes with taints, because devices are the usual reason for taints, and pods that
// request a device tolerate them.
func (s *Cycle) acceptsCandidates(id model.NodeID, each resource.Request) bool {
	info := s.View.Nodes.Info[id]
	if info.Unschedulable {
		return false
	}
	return len(info.Taints) == 0 || slices.ContainsFunc(each, func(t resource.Term) bool { return isDevice(s.Cluster.Resources.Name(int(t.Index))) })
}

// isDevice reports whether a resource has a name with a domain, such as nvidia.com/gpu.
func isDevice(name string) bool { return strings.Contains(name, "/") }
