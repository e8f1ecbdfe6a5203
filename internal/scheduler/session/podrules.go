package session

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/interpod"
	"github.com/vc-batch/vc/internal/scheduler/score"
)

// DependsOnPods reports whether other pods affect where a task may run.
func (s *Session) DependsOnPods(t *model.Task) bool { return s.PodCounts.ProfileFor(t) != nil }

// CountPlacedPod updates the pod counts when the overlay places a task.
func (s *Session) CountPlacedPod(t *model.Task, id model.NodeID) { s.PodCounts.CountPlaced(t, id, 1) }

// UncountPlacedPod updates the pod counts when the overlay undoes a placement.
func (s *Session) UncountPlacedPod(t *model.Task, id model.NodeID) {
	s.PodCounts.CountPlaced(t, id, -1)
}

// findByRules is like FindNode, for tasks with rules about other pods or with policies' rules about nodes.
func (s *Session) findByRules(j *framework.Job, t *model.Task, near *interpod.Profile, rules []framework.NodeRule) (node model.NodeID, later, ok bool) {
	if s.InForecast() {
		node, ok = s.bestByRules(j, t, near, rules, true)
		return node, false, ok
	}
	if node, ok = s.bestByRules(j, t, near, rules, false); ok {
		return node, false, true
	}
	if !s.expectsFreeResources() {
		return model.NoNode, false, false
	}
	node, ok = s.bestByRules(j, t, near, rules, true)
	return node, true, ok
}

// bestByRules returns the best node for a task by all rules. If policies have rules about single nodes, it evaluates
// every node with enough free resources, in order of names.
func (s *Session) bestByRules(j *framework.Job, t *model.Task, near *interpod.Profile, rules []framework.NodeRule, later bool) (model.NodeID, bool) {
	if len(rules) == 0 {
		return near.BestNode(later)
	}
	if near == nil && onlyReject(rules) {
		return s.firstByRules(j, t, rules, later)
	}
	var expensive []framework.NodeRule
	if near == nil {
		rules, expensive = splitExpensive(rules, j, t)
	}
	nodes, points := s.scratch.candidates[:0], s.scratch.points[:0]
	s.Judge.EachFitting(t.Shape.Plain, later, func(id model.NodeID, score int32) {
		if near != nil {
			if code, _ := near.CheckNode(id, later); code != "" {
				return
			}
		}
		if code, _ := checkRules(rules, j, t, id, later); code != "" {
			return
		}
		if len(expensive) > 0 && !mightAllow(expensive, j, t, id, later) {
			return
		}
		nodes, points = append(nodes, id), append(points, float64(score))
	})
	s.scratch.candidates, s.scratch.points = nodes, points
	if len(nodes) == 0 {
		return model.NoNode, false
	}
	if near != nil {
		near.AddPoints(nodes, points)
	}
	for i := range points { // policies count in whole points
		points[i] /= score.Unit
	}
	s.addRulePoints(rules, j, t, nodes, points)
	if len(expensive) > 0 {
		return firstAllowed(expensive, j, t, nodes, points, later)
	}
	return nodes[indexOfMax(points)], true
}

// indexOfMax returns the index of the largest number. If several are equal, it returns the first index.
func indexOfMax(numbers []float64) int {
	best := 0
	for i := range numbers {
		if numbers[i] > numbers[best] {
			best = i
		}
	}
	return best
}

// onlyReject reports whether the rules give no points. In this case, the best node that none of them rejects is
// chosen.
func onlyReject(rules []framework.NodeRule) bool {
	for i := range rules {
		if r := &rules[i]; r.Points != nil || r.Rank != nil || r.ByDomain != nil {
			return false
		}
	}
	return true
}

// firstByRules evaluates only the nodes that are better than the best allowed node so far. In forecasts, it caches
// rejections, which remain valid because free resources only decrease within a try.
func (s *Session) firstByRules(j *framework.Job, t *model.Task, rules []framework.NodeRule, later bool) (node model.NodeID, ok bool) {
	var refused *refusals
	if s.InForecast() {
		refused = s.refusals.resetForTask(t, len(s.View.Rank))
	}
	best := int32(-1) // no score is lower
	s.Judge.EachBetter(t.Shape.Plain, later, func(id model.NodeID, points int32) int32 {
		if refused.isRefusedNode(id) {
			return best
		}
		if code, _ := checkRules(rules, j, t, id, later); code != "" {
			refused.addRefused(id)
			return best
		}
		node, best, ok = id, points, true
		return best
	})
	if !ok {
		return model.NoNode, false
	}
	return node, true
}

// ruleJudge returns a function that reports why a node with enough free resources is rejected for a task; nil if no
// rule applies.
func (s *Session) ruleJudge(j *framework.Job, t *model.Task) func(model.NodeID) (reason.Code, string) {
	rules, near := s.nodeRules(j, t), s.PodCounts.ProfileFor(t)
	if near == nil && len(rules) == 0 {
		return nil
	}
	return func(id model.NodeID) (reason.Code, string) {
		if near != nil {
			if code, detail := near.CheckNode(id, false); code != "" {
				return code, detail
			}
		}
		return checkRules(rules, j, t, id, false)
	}
}
