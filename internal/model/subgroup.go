package model

import (
	"cmp"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// SubGroupPolicy divides the pods of a gang into groups. Each group starts as a whole, like a gang.
type SubGroupPolicy struct {
	Name string
	// Size is the number of pods in a group that start together.
	Size int
	// Min is the number of groups that must be able to start before the gang can start.
	Min int
	// Selector selects the pods. Pods with the same values of the labels in Keys form a group. Without keys, all pods
	// form one group.
	Selector labels.Selector
	Keys     []string
	Topology *TopologySpec
	// Problem describes what is invalid in the policy; "" if it is valid. A gang with an invalid policy cannot start.
	Problem string
}

// GroupOfLabels returns the name and the index of a pod's group. The index is the value of the first key as a number,
// or -1 if it is not a number. ok is false if the pod does not belong to a group.
func (p *SubGroupPolicy) GroupOfLabels(set map[string]string) (name string, index int, ok bool) {
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
