package session

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// nodeRules returns the rules that apply to a task, in the order of policies.
func (s *Session) nodeRules(j *framework.Job, t *model.Task) []framework.NodeRule {
	var out []framework.NodeRule
	for i := range s.Rules.Nodes {
		if s.Rules.Nodes[i].Applies(j, t) {
			out = append(out, s.Rules.Nodes[i])
		}
	}
	return out
}

// HasNodeRestriction reports whether some rule restricts the nodes of a task, rather than only preferring some.
func (s *Session) HasNodeRestriction(j *framework.Job, t *model.Task) bool {
	for i := range s.Rules.Nodes {
		if s.Rules.Nodes[i].Allows != nil && s.Rules.Nodes[i].Applies(j, t) {
			return true
		}
	}
	return false
}

// DependsOnTask reports whether a rule may return different results for tasks of the same shape.
func (s *Session) DependsOnTask(j *framework.Job, t *model.Task) bool {
	for i := range s.Rules.Nodes {
		if r := &s.Rules.Nodes[i]; r.Particular != nil && r.Applies(j, t) && r.Particular(t) {
			return true
		}
	}
	return false
}

// checkRules returns why one of the rules excludes a node for a task.
func checkRules(rules []framework.NodeRule, j *framework.Job, t *model.Task, id model.NodeID, later bool) (reason.Code, string) {
	for i := range rules {
		if rules[i].Allows == nil {
			continue
		}
		if code, detail := rules[i].Allows(j, t, id, later); code != "" {
			return code, detail
		}
	}
	return "", ""
}

// policyJudge returns a function that reports why policies exclude a node for a task, considering only reasons that
// remain when the node gets free resources. It returns nil if no rule applies. Rules that call another process are
// not included.
func (s *Session) policyJudge(j *framework.Job, t *model.Task) func(model.NodeID) (reason.Code, string) {
	if t.Shape.Attached != nil {
		return nil
	}
	rules := slices.DeleteFunc(s.nodeRules(j, t), func(r framework.NodeRule) bool { return r.Allows == nil || r.Remote })
	if len(rules) == 0 {
		return nil
	}
	return func(id model.NodeID) (reason.Code, string) {
		for i := range rules {
			if code, detail := rules[i].Allows(j, t, id, false); code != "" && reason.Get(code).Has(reason.StaysWhenFree) {
				return code, detail
			}
		}
		return "", ""
	}
}

// addRulePoints adds the rules' points to the candidates' points.
func (s *Session) addRulePoints(rules []framework.NodeRule, j *framework.Job, t *model.Task, nodes []model.NodeID, points []float64) {
	for i := range rules {
		if rules[i].ByDomain != nil {
			by := rules[i].ByDomain(t)
			for k, id := range nodes {
				points[k] += by[s.Tree.Topology.LowestDomain(id).Index]
			}
		}
		if rules[i].Points != nil {
			for k, id := range nodes {
				points[k] += rules[i].Points(j, t, id)
			}
		}
		if rules[i].Rank != nil {
			rules[i].Rank(j, t, nodes, points)
		}
	}
}

// NotifyPlaced calls all rules when a task is placed on a node or its placement is undone.
func (s *Session) NotifyPlaced(j *framework.Job, t *model.Task, id model.NodeID, sign int) {
	for i := range s.Rules.Nodes {
		if f := s.Rules.Nodes[i].Placed; f != nil {
			f(j, t, id, sign)
		}
	}
}

// NotifyEvicted calls all rules when a task is counted out or spared. It skips tasks that were only placed in this
// cycle, because the rules' changes for them take effect with the binding, and forecasts count them as still running.
func (s *Session) NotifyEvicted(t *model.Task, sign int) {
	if t.Node == model.NoNode {
		return
	}
	s.PodCounts.CountEvicted(t, sign)
	for i := range s.Rules.Nodes {
		if f := s.Rules.Nodes[i].Evicted; f != nil {
			f(t, sign)
		}
	}
}

// PodAnnotations returns the annotations that the rules write to a pod together with its binding; nil if there are
// none.
func (s *Session) PodAnnotations(j *framework.Job, t *model.Task, id model.NodeID) map[string]string {
	var all map[string]string
	for i := range s.Rules.Nodes {
		rule := &s.Rules.Nodes[i]
		if rule.Annotations == nil || !rule.Applies(j, t) {
			continue
		}
		for k, v := range rule.Annotations(j, t, id) {
			if all == nil {
				all = map[string]string{}
			}
			all[k] = v
		}
	}
	return all
}

// HasPolicyRestriction is like HasNodeRestriction, but ignores reservations.
func (s *Session) HasPolicyRestriction(j *framework.Job, t *model.Task) bool {
	for _, rule := range s.Rules.Nodes {
		if !rule.Reserves && rule.Allows != nil && rule.Applies(j, t) {
			return true
		}
	}
	return false
}
