package fit

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
)

// Closing is a policy's list of nodes that currently accept no tasks. When an entry changes, the policy must call
// Overlay.MarkChanged for the node.
type Closing struct {
	At  []bool                  // whether the node is closed, by model.NodeID; nodes beyond the end of the slice are open
	For func(*model.Shape) bool // constant test for the shapes that the list applies to; nil for all shapes
	Why func(model.NodeID) (reason.Code, string)
}

func (c *Closing) excludesNode(id model.NodeID, s *model.Shape) bool {
	isClosed := int(id) < len(c.At) && c.At[id]
	return isClosed && (c.For == nil || c.For(s))
}

// Proportion reserves cpu and memory for the users of a scarce resource. Pods that do not request the resource must
// leave some cpu and memory free for every idle piece of the resource on the node.
type Proportion struct {
	Resource string
	Index    int     // index of the resource; -1 if no node has it
	MilliCPU float64 // reserved per piece
	Memory   float64 // bytes reserved per piece
}

// keepsReserve reports whether a node would still have the reserved cpu and memory if it also ran a pod of the shape.
func (p *Proportion) keepsReserve(o *overlay.Overlay, room []int64, id model.NodeID, s *model.Shape) bool {
	if p.Index < 0 || p.Index >= o.Nodes.Stride || s.Request.Get(p.Index) > 0 {
		return true
	}
	base := int(id) * o.Nodes.Stride
	idle := float64(room[base+p.Index])
	if idle <= 0 {
		return true
	}
	cpu := float64(room[base+resource.CPU] - s.Request.Get(resource.CPU))
	memory := float64(room[base+resource.Memory] - s.Request.Get(resource.Memory))
	return cpu >= idle*p.MilliCPU && memory >= idle*p.Memory
}

// isExcluded reports whether a policy excludes all tasks of the shape from a node.
func (f *Filters) isExcluded(o *overlay.Overlay, id model.NodeID, s *model.Shape, later bool) bool {
	for _, c := range f.Closed {
		if c.excludesNode(id, s) {
			return true
		}
	}
	room := o.Idle
	if later {
		room = o.Future
	}
	for _, p := range f.Proportions {
		if !p.keepsReserve(o, room, id, s) {
			return true
		}
	}
	return false
}

// WhyClosed returns why a node currently accepts no tasks of the shape.
func (f *Filters) WhyClosed(id model.NodeID, s *model.Shape) (reason.Code, string) {
	for _, c := range f.Closed {
		if c.excludesNode(id, s) {
			return c.Why(id)
		}
	}
	return "", ""
}

// WhyDisproportionate returns the scarce resource for which a node reserves resources that the shape requests.
func (f *Filters) WhyDisproportionate(o *overlay.Overlay, id model.NodeID, s *model.Shape) (reason.Code, string) {
	for _, p := range f.Proportions {
		if !p.keepsReserve(o, o.Idle, id, s) {
			return reason.KeptForOthers, p.Resource
		}
	}
	return "", ""
}
