package model

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
)

// HyperNode is one HyperNode object: a set of nodes that are near each other. Topology builds a tree from them.
type HyperNode struct {
	Name     string
	Tier     int
	TierName string
	Members  []HyperMember
	// Problem describes what is invalid in the object; "" if it is valid. Invalid HyperNodes are not used.
	Problem string
	// Published is the object's status as it was last read or decided.
	Published HyperNodePublished

	matched map[NodeID]bool // nodes that the patterns and labels of its members select
}

// HyperMember selects members of a HyperNode: a single node or HyperNode by its name, or nodes by a name pattern or
// by labels.
type HyperMember struct {
	HyperNode bool // true if Name is the name of a HyperNode
	Name      string
	Pattern   *regexp.Regexp
	Labels    labels.Selector
}

// HyperNodePublished is the status that the scheduler wrote to a HyperNode. The zero value means that it has not
// written a status.
type HyperNodePublished struct {
	NodeCount int
	Ready     metav1.Condition
	Decided   bool // the status was decided here, so older versions from the API are ignored
}

// HyperNodeSet adds or replaces a HyperNode.
type HyperNodeSet struct{ HyperNode HyperNode }

// HyperNodeGone removes a HyperNode.
type HyperNodeGone struct{ Name string }

// HyperNodeStatusFailed reports that a HyperNode's status was not written.
type HyperNodeStatusFailed struct{ Name string }

// HyperNodeFrom converts a HyperNode.
func HyperNodeFrom(o *topologyv1alpha1.HyperNode) HyperNodeSet {
	h := HyperNode{Name: o.Name, Tier: o.Spec.Tier, TierName: o.Spec.TierName}
	h.Published.NodeCount = int(o.Status.NodeCount)
	if c := meta.FindStatusCondition(o.Status.Conditions, topologyv1alpha1.HyperNodeReady); c != nil {
		h.Published.Ready = *c
	}
	if errs := topologyv1alpha1.ValidateHyperNode(o); len(errs) > 0 {
		texts := make([]string, len(errs))
		for i, err := range errs {
			texts[i] = err.Error()
		}
		h.Problem = strings.Join(texts, "; ")
		return HyperNodeSet{h}
	}
	for i := range o.Spec.Members {
		m := &o.Spec.Members[i]
		member := HyperMember{HyperNode: m.Type == topologyv1alpha1.MemberTypeHyperNode}
		switch s := &m.Selector; {
		case s.ExactMatch != nil:
			member.Name = s.ExactMatch.Name
		case s.RegexMatch != nil:
			member.Pattern = regexp.MustCompile(s.RegexMatch.Pattern) // validated
		default:
			member.Labels, _ = metav1.LabelSelectorAsSelector(s.LabelMatch)
		}
		h.Members = append(h.Members, member)
	}
	return HyperNodeSet{h}
}

func (h *HyperNode) hasSameSpec(old *HyperNode) bool {
	if h.Tier != old.Tier || h.TierName != old.TierName || h.Problem != old.Problem {
		return false
	}
	return slices.EqualFunc(h.Members, old.Members, func(a, b HyperMember) bool { return a.comparisonText() == b.comparisonText() })
}

// comparisonText returns the member as a string for comparison.
func (m *HyperMember) comparisonText() string {
	switch {
	case m.HyperNode:
		return "hyperNode " + m.Name
	case m.Pattern != nil:
		return "pattern " + m.Pattern.String()
	case m.Labels != nil:
		return "labels " + m.Labels.String()
	}
	return "node " + m.Name
}

// selectsNode reports whether the member's pattern or labels select a node.
func (m *HyperMember) selectsNode(name string, info *NodeInfo) bool {
	switch {
	case m.Pattern != nil:
		return m.Pattern.MatchString(name)
	case m.Labels != nil:
		return m.Labels.Matches(labels.Set(info.Labels))
	}
	return false
}
