package placement

import (
	"cmp"
	"math"
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// upperBound returns the maximum number of wanted tasks that could fit in a domain, counting each shape separately.
// The whole cluster (nil) has no bound.
func (r *round) upperBound(d *model.Domain, wanted map[*model.Shape]int) int {
	if d == nil {
		return math.MaxInt
	}
	total := 0
	for shape, n := range wanted {
		total += min(n, r.domainSlots(d, shape))
	}
	return total
}

// domainSlots returns how many pods of a shape fit in a domain, considering only resources.
func (r *round) domainSlots(d *model.Domain, shape *model.Shape) int {
	if shape.Impossible {
		return 0
	}
	by := r.slots[shape]
	if by == nil {
		by = r.s.SlotsByLeaf(shape)
		if r.slots == nil {
			r.slots = map[*model.Shape][]int{}
		}
		r.slots[shape] = by
	}
	total := 0
	for _, leaf := range d.Leaves {
		total = min(total+by[leaf.Index], math.MaxInt32)
	}
	return total
}

// enterDomain restricts the round to a domain and sets the order in which its leaves are filled with n pods of a
// shape. Leaves with pods of the gang come first. After them comes the smallest subtree in which all remaining pods
// fit, or the largest subtree if none exists.
func (r *round) enterDomain(d *model.Domain, held []model.NodeID, shape *model.Shape, n int) {
	if d == nil {
		r.s.Scope = nil
		return
	}
	sc := &session.Scope{Domain: d, Now: r.now, Leaves: d.Leaves}
	r.s.Scope = sc
	if len(d.Leaves) < 2 {
		return
	}
	mine := map[*model.Domain]int{}
	for _, id := range held {
		for up := r.s.Tree.Topology.LowestDomain(id); up != nil; up = up.Parent {
			mine[up]++
		}
	}
	if shape != nil && !shape.Impossible { // shapes that fit nowhere are not counted
		r.domainSlots(d, shape)
		sc.Leaves = make([]*model.Domain, 0, len(d.Leaves))
		r.orderLeaves(d, shape, n, mine, &sc.Leaves)
		return
	}
	distance := func(leaf *model.Domain) int {
		for up := leaf; up != nil; up = up.Parent {
			if mine[up] > 0 {
				return up.Tier
			}
		}
		return math.MaxInt
	}
	sc.Leaves = slices.Clone(d.Leaves)
	slices.SortStableFunc(sc.Leaves, func(a, b *model.Domain) int {
		return cmp.Or(cmp.Compare(distance(a), distance(b)), -cmp.Compare(mine[a], mine[b]))
	})
}

func (r *round) orderLeaves(d *model.Domain, shape *model.Shape, n int, mine map[*model.Domain]int, out *[]*model.Domain) int {
	left := n
	if len(d.Own) > 0 {
		*out = append(*out, d)
		left -= r.slots[shape][d.Index]
	}
	type part struct {
		d    *model.Domain
		room int
	}
	parts := make([]part, 0, len(d.Children))
	for _, child := range d.Children {
		if len(child.Leaves) > 0 {
			parts = append(parts, part{child, r.domainSlots(child, shape)})
		}
	}
	for len(parts) > 0 && left > 0 {
		best := 0
		for i := 1; i < len(parts); i++ {
			a, b := parts[i], parts[best]
			holdsA, holdsB := a.room >= left, b.room >= left
			order := cmp.Or(-cmp.Compare(mine[a.d], mine[b.d]), framework.CompareBool(!holdsA, !holdsB))
			if order == 0 && holdsA {
				order = cmp.Compare(a.room, b.room)
			} else if order == 0 {
				order = -cmp.Compare(a.room, b.room)
			}
			if order < 0 {
				best = i
			}
		}
		left = r.orderLeaves(parts[best].d, shape, left, mine, out)
		parts = slices.Delete(parts, best, best+1)
	}
	slices.SortStableFunc(parts, func(a, b part) int {
		return cmp.Or(-cmp.Compare(mine[a.d], mine[b.d]), -cmp.Compare(a.room, b.room))
	})
	for _, p := range parts { // in case some of the others cannot be used
		r.orderLeaves(p.d, shape, 0, mine, out)
	}
	return left
}
