package placement

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// Placing a gang pod by pod is a heuristic, because pods of one shape may use resources that pods of another shape
// need, although all would fit in another order. Therefore, if a gang with several shapes fails, it is tried again
// with the failed shapes first, unless it is clear that no order helps.

// tryOrders places as many tasks as possible. If these are not enough and another order could be better, it tries
// other orders. The placements of the last try stay on the overlay.
func (r *round) tryOrders() {
	if r.job.IsStructured() {
		r.placeStructured()
		return
	}
	mark := r.s.View.Mark()
	r.placeOnce()
	r.job.Unsettled = false
	if len(r.placed) > 0 && r.hasEnough() {
		r.preferStartNow(mark)
		return
	}
	r.fit = len(r.placed)
	if r.retryPromisedNodes(mark) {
		return
	}
	shapes := r.job.PendingShapes()
	if len(shapes) == 1 || r.extra {
		r.job.Unsettled = slices.ContainsFunc(shapes, r.isErratic)
		return
	}
	failed := r.failed
	r.startOver(mark)
	if !r.mayFitReordered(failed, shapes) {
		return
	}
	r.job.Unsettled = true
	for range shapes {
		var front []*model.Shape
		for _, shape := range failed {
			if !slices.Contains(r.front, shape) {
				front = append(front, shape)
			}
		}
		if len(front) == 0 {
			return
		}
		r.front = append(front, r.front...)
		r.startOver(mark)
		r.placeOnce()
		failed = r.failed
		if len(r.placed) > 0 && r.hasEnough() {
			r.job.Unsettled = false
			return
		}
	}
}

// preferStartNow prefers pods with which the gang can start now. If some of the placed pods have to wait for
// resources that are being released, and other pods are enough to start the gang without waiting, it places those
// instead.
func (r *round) preferStartNow(mark int) {
	if r.promises == 0 || len(r.placed) == len(r.job.Pending) || len(r.releasePasses()) == 1 {
		return
	}
	quiet := r.quiet
	r.now, r.quiet = true, true
	r.startOver(mark)
	r.placeOnce()
	r.now, r.quiet = false, quiet
	if len(r.placed) > 0 && r.hasEnough() {
		return
	}
	r.startOver(mark)
	r.placeOnce()
}

// retryPromisedNodes tries the promised nodes if the gang has promised resources. This is necessary because choosing
// the best node for each pod does not always leave enough resources for all of them. If the resources freed by
// victims were not found again, more victims would be evicted.
func (r *round) retryPromisedNodes(mark int) bool {
	if len(r.job.Reserved) == 0 || r.extra {
		return false
	}
	failed := r.failed
	r.startOver(mark)
	r.atHome = true
	r.placeOnce()
	r.atHome = false
	if len(r.placed) > 0 && r.hasEnough() {
		return true
	}
	r.failed = failed
	return false
}

// startOver undoes the placements of a try, so that another one can start.
func (r *round) startOver(mark int) {
	r.undoPlacements(mark)
	r.placed, r.failed, r.promises = r.placed[:0], nil, 0
	if r.preferred != nil {
		r.preferred.Reset()
	}
}

// isErratic reports whether a change to other pods can increase the number of nodes on which a shape fits, and not
// only reduce it. It also returns true if this is unknown.
func (r *round) isErratic(shape *model.Shape) bool {
	if shape.Slow {
		return true
	}
	for _, t := range r.job.Pending {
		if t.Shape == shape {
			return r.s.HasNodeRestriction(r.job, t)
		}
	}
	return false
}

// mayFitReordered counts how many pods of each shape fit on their own, and reports whether together these pods would
// be enough. If not, no other order helps, and none would help with fewer free resources either.
func (r *round) mayFitReordered(failed, shapes []*model.Shape) bool {
	counts := map[*model.Shape]int{}
	total := 0
	for _, t := range r.job.Pending {
		if r.filter == nil || r.filter(t) {
			counts[t.Shape]++
			total++
		}
	}
	dispensable := total - r.job.Need()
	for _, list := range [][]*model.Shape{failed, shapes} {
		for _, shape := range list {
			if counts[shape] == 0 || r.isErratic(shape) {
				continue
			}
			dispensable -= counts[shape] - r.countAlone(shape, counts[shape])
			counts[shape] = 0
			if dispensable < 0 {
				return false
			}
		}
	}
	return true
}

// countAlone returns how many pods of a shape, up to most, would find a node if the gang had no other pods. It undoes
// the placements.
func (r *round) countAlone(shape *model.Shape, most int) int {
	s, mark := r.s, r.s.View.Mark()
	n := 0
	var held []framework.Placed
	for _, t := range r.job.Pending {
		if n == most || t.Shape != shape {
			continue
		}
		if r.limits.appliesTo(s.Constraints.MayAllocate(r.job, shape.Request)) {
			break
		}
		node, later, ok := s.FindNode(r.job, t)
		if !ok {
			break
		}
		p := framework.Placed{Task: t, Node: node, Waits: later || s.mustWait(r.job, shape.Request).Code != ""}
		s.takeResources(r.job, p)
		held = append(held, p)
		n++
	}
	for _, p := range held {
		r.job.ReleasePlacement(p)
	}
	s.View.Rollback(mark)
	return n
}
