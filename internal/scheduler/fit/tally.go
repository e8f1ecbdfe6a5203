package fit

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/place"
)

// Nodes judges a shape on every live node.
func (f *Filters) Nodes(o *place.Overlay, resources *model.Resources, s *model.Shape, extra func(model.NodeID) (reason.Code, string)) explain.Tally {
	return f.NodesOf(o.Order, o, resources, s, extra)
}

// NodesOf judges a shape on some live nodes.
func (f *Filters) NodesOf(nodes []model.NodeID, o *place.Overlay, resources *model.Resources, s *model.Shape, extra func(model.NodeID) (reason.Code, string)) explain.Tally {
	var t explain.Tally
	for _, id := range nodes {
		code, detail := f.Static(s, o.Nodes.Info[id])
		if code != "" {
			t.Add(code, detail, 0)
			continue
		}
		if code, detail = f.WhyClosed(id, s); code != "" {
			t.Add(code, detail, 0)
			continue
		}
		code, index, short := f.Room(o, id, s)
		if code == reason.InsufficientResource || code == reason.TooLarge {
			t.Add(code, resources.Name(index), short)
			continue
		}
		if code == "" {
			code, detail = f.Disproportion(o, id, s)
		}
		if code == "" && extra != nil {
			code, detail = extra(id)
		}
		t.Add(code, detail, 0)
	}
	t.Sort()
	return t
}
