package session

import (
	"cmp"
	"math"
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/score"
)

// scope restricts the search for nodes to a domain. It fills the domain's leaves one after another, so that a gang
// uses as few of them as possible.
type scope struct {
	domain *model.Domain
	leaves []*model.Domain
	// full holds the leaves that had no node for a shape.
	full map[leafShape]bool
	// now excludes resources that are being released.
	now bool
}

type leafShape struct {
	leaf  *model.Domain
	shape *model.Shape
	later bool
}

// RunWithin runs f with only the nodes of a domain; nil for all nodes.
func (s *Session) RunWithin(d *model.Domain, f func()) {
	before := s.scope
	s.scope = nil
	if d != nil && s.Tree != nil {
		s.scope = &scope{domain: d, leaves: d.Leaves}
	}
	f()
	s.scope = before
}

// findWithin is like find, but only inside the scope.
func (s *Session) findWithin(j *framework.Job, t *model.Task) (node model.NodeID, later, ok bool) {
	sc := s.scope
	if node, ok = s.bestWithin(sc, j, t, s.looking > 0); ok {
		return node, false, true
	}
	if sc.now || s.looking > 0 || s.View.Releasing == 0 && !s.isEvicting() {
		return model.NoNode, false, false
	}
	node, ok = s.bestWithin(sc, j, t, true)
	return node, true, ok
}

func (s *Session) bestWithin(sc *scope, j *framework.Job, t *model.Task, later bool) (model.NodeID, bool) {
	near, rules := s.Neighbours.ProfileFor(t), s.nodeRules(j, t)
	plain := near == nil && len(rules) == 0
	view := &s.Tree.view
	ranking := s.Judge.RankingFor(t.Shape, later, view)
	for _, leaf := range sc.leaves {
		key := leafShape{leaf, t.Shape, later}
		if sc.full[key] {
			continue
		}
		if _, any := ranking.TopScore(leaf.Index); any {
			if plain {
				return s.View.Order[ranking.FirstTopRank(leaf.Index)], true
			}
			if node, ok := s.bestAmong(leaf.Own, j, t, later); ok {
				return node, true
			}
		}
		if plain {
			if sc.full == nil {
				sc.full = map[leafShape]bool{}
			}
			sc.full[key] = true
		}
	}
	return model.NoNode, false
}

// bestAmong returns the best of some nodes by all rules.
func (s *Session) bestAmong(among []model.NodeID, j *framework.Job, t *model.Task, later bool) (model.NodeID, bool) {
	near, rules := s.Neighbours.ProfileFor(t), s.nodeRules(j, t)
	var view *equivalence.View
	if s.Tree != nil {
		view = &s.Tree.view
	}
	ranking := s.Judge.RankingFor(t.Shape, later, view)
	nodes, points := s.candidates[:0], s.points[:0]
	for _, id := range among {
		value, fits := ranking.ScoreAt(s.View.Rank[id])
		if !fits {
			continue
		}
		if near != nil {
			if code, _ := near.CheckNode(id, later); code != "" {
				continue
			}
		}
		if code, _ := checkRules(rules, j, t, id, later); code == "" {
			nodes, points = append(nodes, id), append(points, float64(value))
		}
	}
	s.candidates, s.points = nodes, points
	if len(nodes) == 0 {
		return model.NoNode, false
	}
	if near != nil {
		near.AddPoints(nodes, points)
	}
	for i := range points {
		points[i] /= score.Unit
	}
	s.addRulePoints(rules, j, t, nodes, points)
	best := 0
	for i := range points {
		if points[i] > points[best] {
			best = i
		}
	}
	return nodes[best], true
}

// slotsByLeaf returns, for each leaf, how many pods of the given shape fit on its nodes, considering resources only.
// This is an upper bound on the number of pods that can be placed.
func (s *Session) slotsByLeaf(shape *model.Shape) []int {
	t := s.Tree.Topology
	out := make([]int, len(t.Domains))
	later := s.View.Releasing > 0 || s.isEvicting() || s.looking > 0
	ranking := s.Judge.RankingFor(shape, later, &s.Tree.view)
	for rank, id := range s.View.Order {
		if _, fits := ranking.ScoreAt(int32(rank)); fits {
			out[t.LowestDomain(id).Index] += s.fittingPods(shape, id, later)
		}
	}
	return out
}

// fittingPods returns how many pods of a shape fit on a node by resources alone.
func (s *Session) fittingPods(shape *model.Shape, id model.NodeID, later bool) int {
	future, idle := s.View.Nodes.Row(s.View.Future, id), s.View.Nodes.Row(s.View.Idle, id)
	n := int64(math.MaxInt32)
	for _, t := range shape.Request {
		if t.Value <= 0 {
			continue
		}
		room := future[t.Index]
		if !later {
			room = min(room, idle[t.Index])
		}
		n = min(n, room/t.Value)
	}
	return int(max(n, 0))
}

// upperBound returns an upper bound for how many of some tasks a domain has room for, counting each shape separately.
func (r *round) upperBound(d *model.Domain, wanted map[*model.Shape]int) int {
	total := 0
	for shape, n := range wanted {
		total += min(n, r.domainSlots(d, shape))
	}
	return total
}

// domainSlots returns how many pods of a shape a domain has room for by resources alone.
func (r *round) domainSlots(d *model.Domain, shape *model.Shape) int {
	if shape.Impossible {
		return 0
	}
	by := r.slots[shape]
	if by == nil {
		by = r.s.slotsByLeaf(shape)
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

// enterDomain restricts the round to a domain and sets the order in which its leaves are filled with n pods of a shape.
// Leaves with pods of the gang come first. Otherwise it is the smallest subtree that has room for all remaining
// pods, or the largest subtree.
func (r *round) enterDomain(d *model.Domain, held []model.NodeID, shape *model.Shape, n int) {
	if d == nil {
		r.s.scope = nil
		return
	}
	sc := &scope{domain: d, now: r.now, leaves: d.Leaves}
	r.s.scope = sc
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
		sc.leaves = make([]*model.Domain, 0, len(d.Leaves))
		r.orderLeaves(d, shape, n, mine, &sc.leaves)
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
	sc.leaves = slices.Clone(d.Leaves)
	slices.SortStableFunc(sc.leaves, func(a, b *model.Domain) int {
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

// onlyByDomain reports whether the rules only give points to HyperNodes.
func onlyByDomain(rules []framework.NodeRule) bool {
	for i := range rules {
		if r := &rules[i]; r.ByDomain == nil || r.Allows != nil || r.Points != nil || r.Rank != nil {
			return false
		}
	}
	return true
}

// findByDomain is like find, for rules that give points to HyperNodes.
func (s *Session) findByDomain(t *model.Task, rules []framework.NodeRule) (node model.NodeID, later, ok bool) {
	if node, ok = s.bestByDomain(t, rules, s.looking > 0); ok || s.looking > 0 {
		return node, false, ok
	}
	if s.View.Releasing == 0 && !s.isEvicting() {
		return model.NoNode, false, false
	}
	node, ok = s.bestByDomain(t, rules, true)
	return node, true, ok
}

func (s *Session) bestByDomain(t *model.Task, rules []framework.NodeRule, later bool) (model.NodeID, bool) {
	ranking := s.Judge.RankingFor(t.Shape, later, &s.Tree.view)
	best, most := int32(-1), math.Inf(-1)
	for i := range rules {
		s.sumDomainPoints(i, rules[i].ByDomain(t))
	}
	for _, leaf := range s.Tree.Topology.Root.Leaves {
		top, any := ranking.TopScore(leaf.Index)
		if !any {
			continue
		}
		points := float64(top)/score.Unit + s.points[leaf.Index]
		if points < most {
			continue
		}
		if first := ranking.FirstTopRank(leaf.Index); points > most || first < best {
			best, most = first, points
		}
	}
	if best < 0 {
		return model.NoNode, false
	}
	return s.View.Order[best], true
}

// sumDomainPoints sums the points of domains over the rules.
func (s *Session) sumDomainPoints(i int, by []float64) {
	if i == 0 {
		s.points = append(s.points[:0], by...)
		return
	}
	for k, v := range by {
		s.points[k] += v
	}
}
