package session

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// FindNode returns the best node for a task. later is true if the resources are still being released.
func (s *Session) FindNode(j *framework.Job, t *model.Task) (node model.NodeID, later, ok bool) {
	if t.Shape.Impossible {
		return model.NoNode, false, false
	}
	if s.Scope != nil {
		return s.findWithin(j, t)
	}
	if rules, near := s.nodeRules(j, t), s.PodCounts.ProfileFor(t); len(rules) > 0 || near != nil {
		if near == nil && onlyByDomain(rules) {
			return s.findByDomain(t, rules)
		}
		return s.findByRules(j, t, near, rules)
	}
	if node, ok = s.Judge.BestNode(t.Shape); ok {
		return node, false, true
	}
	if !s.expectsFreeResources() || s.InForecast() { // in a forecast, resources that were being released are idle
		return model.NoNode, false, false
	}
	node, ok = s.Judge.BestNodeLater(t.Shape)
	return node, true, ok
}

// JudgeNodes returns why a task fits nowhere.
func (s *Session) JudgeNodes(j *framework.Job, t *model.Task) explain.Verdict {
	if len(s.View.Order) == 0 {
		return explain.Verdict{Code: reason.NoNodes}
	}
	nodes := s.View.Order
	if s.Scope != nil {
		nodes = s.Scope.Domain.All
	}
	tally := s.Judge.Filters.TallyNodes(nodes, s.View, s.Cluster.Resources, t.Shape, s.policyJudge(j, t), s.ruleJudge(j, t))
	v := explain.Verdict{Code: reason.GangDoesNotFit, Tally: tally, Task: t}
	if isTooLarge, limits := s.sizes.IsTooLarge(t.Shape); isTooLarge {
		setTooLarge(&v, limits)
	}
	return v
}

// FitsOn reports whether a task may start on a node now.
func (s *Session) FitsOn(j *framework.Job, t *model.Task, id model.NodeID) bool {
	if s.View.Rank[id] < 0 || !s.View.FitsNow(id, t.Shape.Request) || !s.Judge.IsAllowed(t.Shape, id) {
		return false
	}
	if len(t.Shape.Ports) > 0 && !s.View.HasFreePorts(id, t.Shape.Ports, false) {
		return false
	}
	if near := s.PodCounts.ProfileFor(t); near != nil {
		if code, _ := near.CheckNode(id, false); code != "" {
			return false
		}
	}
	code, _ := checkRules(s.nodeRules(j, t), j, t, id, false)
	return code == ""
}

// setTooLarge sets a verdict's code to TooLarge and adds the resources that no node has enough of.
func setTooLarge(v *explain.Verdict, limits []explain.Limit) {
	v.Code, v.Limit, v.More = reason.TooLarge, nil, nil
	if len(limits) > 0 {
		v.Limit, v.More = &limits[0], limits[1:]
	}
}
