package model

import (
	"cmp"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// SubGroupPolicy cuts pods of a gang into gangs of their own.
type SubGroupPolicy struct {
	Name string
	// Size is how many pods of a group start together.
	Size int
	// Min is how many groups have to start for the gang to.
	Min int
	// Selector picks the pods; Keys are the labels by whose values they are told
	// apart. Without keys they are one group.
	Selector labels.Selector
	Keys     []string
	Topology *TopologySpec
	// Problem is what of the policy cannot be read; such a gang cannot start.
	Problem string
}

// Of names the group that a pod belongs to, and its place among its kind: the
// first value as a number, -1 when it is none. ok is false when it is in none.
func (p *SubGroupPolicy) Of(set map[string]string) (name string, index int, ok bool) {
	if p.Problem != "" || !p.Selector.Matches(labels.Set(set)) {
		return "", 0, false
	}
	index = -1
	var b strings.Builder
	b.WriteString(p.Name)
	for i, key := range p.Keys {
		value, has := set[key]
		if !has {
			return "", 0, false
		}
		if i == 0 {
			if n, err := strconv.Atoi(value); err == nil && n >= 0 {
				index = n
			}
		}
		b.WriteByte('-')
		b.WriteString(value)
	}
	return b.String(), index, true
}

func subGroupsFrom(s *schedulingv1beta1.SubGroupPolicySpec) SubGroupPolicy {
	p := SubGroupPolicy{Name: s.Name, Size: 1, Keys: s.MatchLabelKeys, Topology: topologyFrom(s.NetworkTopology)}
	if s.SubGroupSize != nil {
		p.Size = max(int(*s.SubGroupSize), 1)
	}
	if s.MinSubGroups != nil {
		p.Min = max(int(*s.MinSubGroups), 0)
	}
	p.Selector = labels.Everything()
	if s.LabelSelector != nil {
		selector, err := metav1.LabelSelectorAsSelector(s.LabelSelector)
		if err != nil {
			p.Problem = "labelSelector: " + err.Error()
		} else {
			p.Selector = selector
		}
	}
	return p
}

func topologyFrom(s *schedulingv1beta1.NetworkTopologySpec) *TopologySpec {
	if s == nil {
		return nil
	}
	return &TopologySpec{
		Hard: cmp.Or(s.Mode, schedulingv1beta1.HardNetworkTopologyMode) == schedulingv1beta1.HardNetworkTopologyMode,
		Tier: s.HighestTierAllowed, TierName: s.HighestTierName,
	}
}
