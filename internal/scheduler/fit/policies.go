package fit

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/place"
)

// Closing is a policy's word on which nodes take nobody at the moment. When it
// changes, the policy has to Stir the node.
type Closing struct {
	At  []bool                  // by model.NodeID; nodes beyond the end are open
	For func(*model.Shape) bool // whom it is for, always the same for one shape; nil: all
	Why func(model.NodeID) (reason.Code, string)
}

func (c *Closing) closes(id model.NodeID, s *model.Shape) bool {
	return int(id) < len(c.At) && c.At[id] && (c.For == nil || c.For(s))
}

// Proportion keeps cpu and memory for a scarce resource: pods that do not ask for
// it leave so much on a node for every piece of it that is idle there.
type Proportion struct {
	Resource string
	Index    int     // of the resource; -1: nobody has it
	MilliCPU float64 // for each piece
	Memory   float64 // bytes for each piece
}

// keeps says whether a node has its proportion left with the shape on it.
func (p *Proportion) keeps(o *place.Overlay, room []int64, id model.NodeID, s *model.Shape) bool {
	if p.Index < 0 || p.Index >= o.Nodes.Stride || s.Request.Get(p.Index) > 0 {
		return true
	}
	base := int(id) * o.Nodes.Stride
	idle := float64(room[base+p.Index])
	if idle <= 0 {
		return true
	}
	cpu := float64(room[base+model.CPU] - s.Request.Get(model.CPU))
	memory := float64(room[base+model.Memory] - s.Request.Get(model.Memory))
	return cpu >= idle*p.MilliCPU && memory >= idle*p.Memory
}

// bars says whether a policy keeps all tasks of the shape off a node.
func (f *Filters) bars(o *place.Overlay, id model.NodeID, s *model.Shape, later bool) bool {
	for _, c := range f.Closed {
		if c.closes(id, s) {
			return true
		}
	}
	room := o.Idle
	if later {
		room = o.Future
	}
	for _, p := range f.Proportions {
		if !p.keeps(o, room, id, s) {
			return true
		}
	}
	return false
}

// WhyClosed says why a node takes nobody at the moment.
func (f *Filters) WhyClosed(id model.NodeID, s *model.Shape) (reason.Code, string) {
	for _, c := range f.Closed {
		if c.closes(id, s) {
			return c.Why(id)
		}
	}
	return "", ""
}

// Disproportion says for which resource a node keeps what the shape asks for.
func (f *Filters) Disproportion(o *place.Overlay, id model.NodeID, s *model.Shape) (reason.Code, string) {
	for _, p := range f.Proportions {
		if !p.keeps(o, o.Idle, id, s) {
			return reason.KeptForOthers, p.Resource
		}
	}
	return "", ""
}
