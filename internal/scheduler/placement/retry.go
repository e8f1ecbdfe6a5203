package placement

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// Placing a gang pod by pod is a heuristic: pods of one shape may use resources that pods of another shape need,
// although all would fit in another order. Therefore, a gang of several shapes that fails is tried again with the
// failed shapes first, unless it is clear that no order helps.

// tryOrders places what it can. If that is not enough and another order could be better, it tries others. The
// placements of the last try stay on the overlay.
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

// preferStartNow places other pods of the gang if some of the placed pods have to wait for resources that are being
// released, and other pods are enough to start the gang now.
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

// retryPromisedNodes tries once more if the gang has promised resources, using the promised nodes. The best node for
// each pod does not always leave room for all of them. If the resources freed by victims were not found again, more
// victims would be evicted.
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

// startOver undoes a try and starts over.
func (r *round) startOver(mark int) {
	r.undoPlacements(mark)
	r.placed, r.failed, r.promises = r.placed[:0], nil, 0
	if r.preferred != nil {
		r.preferred.Reset()
	}
}

// isErratic reports whether changes of other pods can make more nodes fit for a shape, not only fewer. It also returns
// true if this is unknown.
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

// mayFitReordered reports whether each shape alone has room for so many of its pods that together they would be enough.
// If not, no order helps, and no order helps with fewer free resources either.
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

// countAlone returns how many pods of a shape find a node if the gang has no others, up to most. It undoes the
// placements.
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
