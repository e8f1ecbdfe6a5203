package session

import (
	"math"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/score"
)

// RunWithin runs f while the search for nodes is restricted to a domain; nil for no restriction.
func (s *Session) RunWithin(d *model.Domain, f func()) {
	before := s.Scope
	s.Scope = nil
	if d != nil && s.Tree != nil {
		s.Scope = &Scope{Domain: d, Leaves: d.Leaves}
	}
	f()
	s.Scope = before
}

// expectsFreeResources reports whether ending or evicted pods will free resources.
func (s *Session) expectsFreeResources() bool { return s.View.Releasing > 0 || s.IsEvicting() }

// findWithin is like FindNode, but only inside the scope.
func (s *Session) findWithin(j *framework.Job, t *model.Task) (node model.NodeID, later, ok bool) {
	sc := s.Scope
	if node, ok = s.bestWithin(sc, j, t, s.InForecast()); ok {
		return node, false, true
	}
	if sc.Now || s.InForecast() || !s.expectsFreeResources() {
		return model.NoNode, false, false
	}
	node, ok = s.bestWithin(sc, j, t, true)
	return node, true, ok
}

func (s *Session) bestWithin(sc *Scope, j *framework.Job, t *model.Task, later bool) (model.NodeID, bool) {
	near, rules := s.PodCounts.ProfileFor(t), s.nodeRules(j, t)
	plain := near == nil && len(rules) == 0
	view := &s.Tree.View
	ranking := s.Judge.RankingFor(t.Shape, later, view)
	for _, leaf := range sc.Leaves {
		key := leafShape{leaf, t.Shape, later}
		if sc.full[key] {
			continue
		}
		if _, found := ranking.TopScore(leaf.Index); found {
			if plain {
				return s.View.Order[ranking.FirstTopRank(leaf.Index)], true
			}
			if node, ok := s.BestAmong(leaf.Own, j, t, later); ok {
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

// BestAmong returns the best of the given nodes by all rules.
func (s *Session) BestAmong(among []model.NodeID, j *framework.Job, t *model.Task, later bool) (model.NodeID, bool) {
	near, rules := s.PodCounts.ProfileFor(t), s.nodeRules(j, t)
	var view *equivalence.View
	if s.Tree != nil {
		view = &s.Tree.View
	}
	ranking := s.Judge.RankingFor(t.Shape, later, view)
	nodes, points := s.scratch.candidates[:0], s.scratch.points[:0]
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
	s.scratch.candidates, s.scratch.points = nodes, points
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

// SlotsByLeaf returns, for each leaf, how many pods of the given shape fit on its nodes, considering resources only.
// This is an upper bound on the number of pods that can be placed.
func (s *Session) SlotsByLeaf(shape *model.Shape) []int {
	t := s.Tree.Topology
	out := make([]int, len(t.Domains))
	later := s.expectsFreeResources() || s.InForecast()
	ranking := s.Judge.RankingFor(shape, later, &s.Tree.View)
	for rank, id := range s.View.Order {
		if _, fits := ranking.ScoreAt(int32(rank)); fits {
			out[t.LowestDomain(id).Index] += s.FittingPods(shape, id, later)
		}
	}
	return out
}

// FittingPods returns how many pods of a shape fit on a node, considering only resources.
func (s *Session) FittingPods(shape *model.Shape, id model.NodeID, later bool) int {
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

// onlyByDomain reports whether the rules only give points to HyperNodes.
func onlyByDomain(rules []framework.NodeRule) bool {
	for i := range rules {
		r := &rules[i]
		looksAtNodes := r.Allows != nil || r.Points != nil || r.Rank != nil
		if r.ByDomain == nil || looksAtNodes {
			return false
		}
	}
	return true
}

// findByDomain is like FindNode, for rules that give points to HyperNodes.
func (s *Session) findByDomain(t *model.Task, rules []framework.NodeRule) (node model.NodeID, later, ok bool) {
	if node, ok = s.bestByDomain(t, rules, s.InForecast()); ok || s.InForecast() {
		return node, false, ok
	}
	if !s.expectsFreeResources() {
		return model.NoNode, false, false
	}
	node, ok = s.bestByDomain(t, rules, true)
	return node, true, ok
}

func (s *Session) bestByDomain(t *model.Task, rules []framework.NodeRule, later bool) (model.NodeID, bool) {
	ranking := s.Judge.RankingFor(t.Shape, later, &s.Tree.View)
	best, most := int32(-1), math.Inf(-1)
	for i := range rules {
		s.sumDomainPoints(i, rules[i].ByDomain(t))
	}
	for _, leaf := range s.Tree.Topology.Root.Leaves {
		top, found := ranking.TopScore(leaf.Index)
		if !found {
			continue
		}
		points := float64(top)/score.Unit + s.scratch.points[leaf.Index]
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

// sumDomainPoints adds up the points that the rules give to domains.
func (s *Session) sumDomainPoints(i int, by []float64) {
	if i == 0 {
		s.scratch.points = append(s.scratch.points[:0], by...)
		return
	}
	for k, v := range by {
		s.scratch.points[k] += v
	}
}
