package session

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
)

// NodeRule is what a policy says of single nodes for single tasks, beyond the
// judge's filters and weights. Tasks that no rule applies to take the fast path,
// so Applies should be narrow. Functions may be nil, but for Applies. A rule is
// registered anew in every cycle and may keep what it needs for that cycle.
type NodeRule struct {
	// Name of the policy.
	Name string
	// Applies says whether the rule has anything to say about a task.
	Applies func(*Job, *model.Task) bool
	// Allows says why a node cannot take a task; "" when it can. later: room, cards
	// and cores that are being released count as free.
	Allows func(j *Job, t *model.Task, id model.NodeID, later bool) (code reason.Code, detail string)
	// Particular says that the answer is the task's own: another of its shape may get another. nil: it is the shape's.
	Particular func(*model.Task) bool
	// Dear says that Allows is dear for a task, and Rank has nothing to say of it:
	// then candidates are asked in the order of their points, until one is allowed.
	Dear func(j *Job, t *model.Task) bool
	// Could is a quick look before a dear Allows: false when that is sure to say no.
	Could func(j *Job, t *model.Task, id model.NodeID, later bool) bool
	// Remote says that Allows asks another process.
	Remote bool
	// Points of a node for a task, 0 to 100 times the policy's weight.
	Points func(j *Job, t *model.Task, id model.NodeID) float64
	// Rank adds points to all candidates at once, where points depend on the others.
	// Nodes are in the order of their names.
	Rank func(j *Job, t *model.Task, nodes []model.NodeID, points []float64)
	// ByDomain are points of HyperNodes, by Domain.Index: a node has those of its lowest. It is looked at first, and
	// keeps a task that only rules of this kind apply to on a fast path.
	ByDomain func(t *model.Task) []float64
	// Placed follows what the cycle tries: a task took a node (1) or was undone (-1).
	// A promise of an earlier cycle that is withdrawn counts as undone too: its task
	// is Pipelined on that node.
	Placed func(j *Job, t *model.Task, id model.NodeID, sign int)
	// Evicted follows what the cycle tries to evict: counted out (1) or spared (-1).
	Evicted func(t *model.Task, sign int)
	// Annotations are written to the pod along with its binding.
	Annotations func(j *Job, t *model.Task, id model.NodeID) map[string]string
}

// nodeRules are the rules that apply to a task, in the order of policies.
func (s *Session) nodeRules(j *Job, t *model.Task) []NodeRule {
	var out []NodeRule
	for i := range s.Rules.Nodes {
		if s.Rules.Nodes[i].Applies(j, t) {
			out = append(out, s.Rules.Nodes[i])
		}
	}
	return out
}

// RuledBy says whether a rule has a say on which nodes a task may take, more than
// on which are better.
func (s *Session) RuledBy(j *Job, t *model.Task) bool {
	for i := range s.Rules.Nodes {
		if s.Rules.Nodes[i].Allows != nil && s.Rules.Nodes[i].Applies(j, t) {
			return true
		}
	}
	return false
}

// particular says whether a rule may answer a task otherwise than another of its shape.
func (s *Session) particular(j *Job, t *model.Task) bool {
	for i := range s.Rules.Nodes {
		if r := &s.Rules.Nodes[i]; r.Particular != nil && r.Applies(j, t) && r.Particular(t) {
			return true
		}
	}
	return false
}

// allowedBy says why one of the rules keeps a task off a node.
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

// lasting are reasons that do not go away when a node gets room.
var lasting = []reason.Code{
	reason.NodeGroupMismatch, reason.NodeOverloaded, reason.DeviceMissing, reason.DeviceMismatch, reason.DeviceRequestInvalid,
	reason.NumaUnknown, reason.NumaPolicyMismatch, reason.ByPolicy,
}

// policyJudge says why policies keep a task off a node, whether it has room now or
// not, for reasons that last; nil when they have no say. Who asks elsewhere is
// asked about nodes with room only.
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
			if code, detail := rules[i].Allows(j, t, id, false); slices.Contains(lasting, code) {
				return code, detail
			}
		}
		return "", ""
	}
}

// rankBy adds the rules' points to those of the candidates.
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

// followPlaced tells all rules that a task took a node, or did not in the end.
func (s *Session) followPlaced(j *Job, t *model.Task, id model.NodeID, sign int) {
	for i := range s.Rules.Nodes {
		if f := s.Rules.Nodes[i].Placed; f != nil {
			f(j, t, id, sign)
		}
	}
}

// FollowEvicted tells all rules that a task is counted out, or spared. Of one that
// only this cycle placed they are not told: what they gave to it, its binding will
// say, and what looks ahead counts it as still there.
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

// Annotations are what the rules write to a pod with its binding; nil: nothing.
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
