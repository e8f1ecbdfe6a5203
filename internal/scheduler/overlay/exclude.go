package overlay

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
)

// ExcludeResources excludes some resources from the overlay's checks because another component checks them. Every
// node then appears to have model.MaxAmount of these resources. They replace the resources of the previous call.
func (o *Overlay) ExcludeResources(indexes []int) {
	var left []bool
	for _, i := range indexes {
		for len(left) <= i {
			left = append(left, false)
		}
		left[i] = true
	}
	if slices.Equal(left, o.left) {
		return
	}
	o.left = left
	for _, id := range o.Order {
		if _, changed := o.loadNodeRow(id); changed {
			o.MarkChanged(id, true)
		}
	}
}

// IsExcluded reports whether a resource was excluded by ExcludeResources.
func (o *Overlay) IsExcluded(index int) bool { return index < len(o.left) && o.left[index] }

// FitsWhenEmpty reports whether a request would fit on a node if the node were empty.
func (o *Overlay) FitsWhenEmpty(id model.NodeID, r resource.Request) bool {
	base := int(id) * o.Nodes.Stride
	for _, t := range r {
		if t.Value > o.Nodes.Alloc[base+int(t.Index)] && !o.IsExcluded(int(t.Index)) {
			return false
		}
	}
	return true
}

// MarkChanged marks a node as changed for a reason that its row does not show, such as the time of day. If better is
// true, waiting gangs may now fit on the node.
func (o *Overlay) MarkChanged(id model.NodeID, better bool) {
	if o.Rank[id] < 0 {
		return
	}
	o.Changes.add(id)
	if better {
		o.Grown = append(o.Grown, id)
		o.Touched = true
	}
}
