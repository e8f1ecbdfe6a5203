package session

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
)

// NodeRule is a policy's rule about single nodes for single tasks, beyond the judge's filters and weights. Tasks
// without such rules take a fast path, so Applies should be narrow. All functions except Applies may be nil. A rule
// is registered in every cycle and may keep state for that cycle.
type NodeRule struct {
	// Name is the name of the policy.
	Name string
	// Applies reports whether the rule applies to a task.
	Applies func(*Job, *model.Task) bool
	// Allows returns why a node cannot take a task; "" if it can. If later is true, resources that are being
	// released count as free.
	Allows func(j *Job, t *model.Task, id model.NodeID, later bool) (code reason.Code, detail string)
	// Particular reports whether the answer depends on the task and not only on its shape. nil means that it
	// depends on the shape only.
	Particular func(*model.Task) bool
	// Dear reports whether Allows is expensive for a task and Rank adds no points to it. Candidates are then
	// evaluated by descending points, until one is allowed.
	Dear func(j *Job, t *model.Task) bool
	// Could is a quick check before an expensive Allows; false means that Allows would reject.
	Could func(j *Job, t *model.Task, id model.NodeID, later bool) bool
	// Remote is true if Allows calls another process.
	Remote bool
	// Points returns the points of a node for a task, 0 to 100 times the policy's weight.
	Points func(j *Job, t *model.Task, id model.NodeID) float64
	// Rank adds points to all candidates at once, if the points depend on the other candidates. Nodes are sorted by
	// name.
	Rank func(j *Job, t *model.Task, nodes []model.NodeID, points []float64)
	// ByDomain returns the points of HyperNodes, by Domain.Index. A node gets the points of its lowest HyperNode.
	// Tasks with only such rules take a fast path.
	ByDomain func(t *model.Task) []float64
	// Placed is called when a task is placed on a node (1) or its placement is undone (-1). It is also called with
	// -1 when a promise of an earlier cycle is withdrawn; the task is then Pipelined on that node.
	Placed func(j *Job, t *model.Task, id model.NodeID, sign int)
	// Evicted is called when a task is counted out (1) or spared (-1).
	Evicted func(t *model.Task, sign int)
	// Annotations returns annotations to write to the pod with its binding.
	Annotations func(j *Job, t *model.Task, id model.NodeID) map[string]string
}

// nodeRules returns the rules that apply to a task, in the order of policies.
func (s *Session) nodeRules(j *Job, t *model.Task) []NodeRule {
	var out []NodeRule
	for i := range s.Rules.Nodes {
		if s.Rules.Nodes[i].Applies(j, t) {
			out = append(out, s.Rules.Nodes[i])
		}
	}
	return out
}

// RuledBy reports whether some rule restricts the nodes of a task, rather than only preferring some.
func (s *Session) RuledBy(j *Job, t *model.Task) bool {
	for i := range s.Rules.Nodes {
		if s.Rules.Nodes[i].Allows != nil && s.Rules.Nodes[i].Applies(j, t) {
			return true
		}
	}
	return false
}

// particular reports whether a rule may answer differently for tasks of the same shape.
func (s *Session) particular(j *Job, t *model.Task) bool {
	for i := range s.Rules.Nodes {
		if r := &s.Rules.Nodes[i]; r.Particular != nil && r.Applies(j, t) && r.Particular(t) {
			return true
		}
	}
	return false
}

// allowedBy returns why one of the rules excludes a node for a task.
func allowedBy(rules []NodeRule, j *Job, t *model.Task, id model.NodeID, later bool) (reason.Code, string) {
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

// policyJudge returns a function that reports why policies exclude a node for a task, for reasons that remain when the
// node gets free resources; nil if no policy does. Rules that call another process are not included.
func (s *Session) policyJudge(j *Job, t *model.Task) func(model.NodeID) (reason.Code, string) {
	if t.Shape.Attached != nil {
		return nil
	}
	rules := slices.DeleteFunc(s.nodeRules(j, t), func(r NodeRule) bool { return r.Allows == nil || r.Remote })
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

// rankBy adds the rules' points to the candidates' points.
func (s *Session) rankBy(rules []NodeRule, j *Job, t *model.Task, nodes []model.NodeID, points []float64) {
	for i := range rules {
		if rules[i].ByDomain != nil {
			by := rules[i].ByDomain(t)
			for k, id := range nodes {
				points[k] += by[s.Tree.Topology.Lowest(id).Index]
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

// followPlaced calls all rules when a task is placed on a node or its placement is undone.
func (s *Session) followPlaced(j *Job, t *model.Task, id model.NodeID, sign int) {
	for i := range s.Rules.Nodes {
		if f := s.Rules.Nodes[i].Placed; f != nil {
			f(j, t, id, sign)
		}
	}
}

// FollowEvicted calls all rules when a task is counted out or spared. It skips tasks that were only placed in this
// cycle: the rules' changes for them appear with the binding, and forecasts count them as still there.
func (s *Session) FollowEvicted(t *model.Task, sign int) {
	if t.Node == model.NoNode {
		return
	}
	s.Neighbours.Evicted(t, sign)
	for i := range s.Rules.Nodes {
		if f := s.Rules.Nodes[i].Evicted; f != nil {
			f(t, sign)
		}
	}
}

// Annotations returns what the rules write to a pod with its binding; nil for nothing.
func (s *Session) Annotations(j *Job, t *model.Task, id model.NodeID) map[string]string {
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
