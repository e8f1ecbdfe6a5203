package fit

import (
	"cmp"
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/place"
)

// Count is how many nodes one filter rejected.
type Count struct {
	Reason reason.Code
	Detail string // resource, taint, selector
	Nodes  int
	// Short is how much the nearest of them lacks, in the model's unit; 0 when
	// the reason is no amount.
	Short int64
}

// Tally counts, over all live nodes, why a shape does not fit.
type Tally struct {
	Looked int
	Fit    int
	Counts []Count // most nodes first
}

// Add counts one node.
func (t *Tally) Add(code reason.Code, detail string, short int64) {
	t.Looked++
	if code == "" {
		t.Fit++
		return
	}
	for i := range t.Counts {
		c := &t.Counts[i]
		if c.Reason == code && c.Detail == detail {
			c.Nodes++
			c.Short = min(c.Short, short)
			return
		}
	}
	t.Counts = append(t.Counts, Count{Reason: code, Detail: detail, Nodes: 1, Short: short})
}

// Sort orders the counts: most nodes first, then by name.
func (t *Tally) Sort() {
	slices.SortFunc(t.Counts, func(a, b Count) int {
		return cmp.Or(-cmp.Compare(a.Nodes, b.Nodes), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Detail, b.Detail))
	})
}

// Nodes judges a shape on every live node.
func (f *Filters) Nodes(o *place.Overlay, resources *model.Resources, s *model.Shape, extra func(model.NodeID) (reason.Code, string)) Tally {
	var t Tally
	for _, id := range o.Order {
		code, detail := f.Static(s, o.Nodes.Info[id])
		if code != "" {
			t.Add(code, detail, 0)
			continue
		}
		code, index, short := f.Room(o, id, s)
		if code == reason.InsufficientResource || code == reason.TooLarge {
			t.Add(code, resources.Name(index), short)
			continue
		}
		if code == "" && extra != nil {
			code, detail = extra(id)
		}
		t.Add(code, detail, 0)
	}
	t.Sort()
	return t
}
