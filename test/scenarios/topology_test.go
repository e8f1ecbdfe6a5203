package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// setHyperNodes parses lines: NAME tier=1 name=rack nodes=a,b members=s0,s1 pattern=^a label:rack=1.
func (w *world) setHyperNodes(lines []string) []string {
	if w.hypers == nil {
		w.hypers = map[string]*topologyv1alpha1.HyperNode{}
	}
	for _, line := range lines {
		words := strings.Fields(line)
		h := &topologyv1alpha1.HyperNode{ObjectMeta: metav1.ObjectMeta{Name: words[0]}}
		for _, word := range words[1:] {
			key, value := pair(word)
			w.hyperWord(&h.Spec, key, value)
		}
		w.hypers[h.Name] = h
		w.model.Apply(model.HyperNodeFrom(h))
	}
	return []string{fmt.Sprintf("%d hyperNodes", len(w.hypers))}
}

func (w *world) hyperWord(spec *topologyv1alpha1.HyperNodeSpec, key, value string) {
	member := func(kind topologyv1alpha1.MemberType, s topologyv1alpha1.MemberSelector) {
		spec.Members = append(spec.Members, topologyv1alpha1.MemberSpec{Type: kind, Selector: s})
	}
	kind, rest, _ := strings.Cut(key, ":")
	switch kind {
	case "tier":
		spec.Tier = number(w, value)
	case "name":
		spec.TierName = value
	case "nodes", "members":
		of := topologyv1alpha1.MemberTypeNode
		if kind == "members" {
			of = topologyv1alpha1.MemberTypeHyperNode
		}
		for _, name := range strings.Split(value, ",") {
			member(of, topologyv1alpha1.MemberSelector{ExactMatch: &topologyv1alpha1.ExactMatch{Name: name}})
		}
	case "pattern":
		member(topologyv1alpha1.MemberTypeNode, topologyv1alpha1.MemberSelector{RegexMatch: &topologyv1alpha1.RegexMatch{Pattern: value}})
	case "label":
		member(topologyv1alpha1.MemberTypeNode, topologyv1alpha1.MemberSelector{LabelMatch: &metav1.LabelSelector{MatchLabels: map[string]string{rest: value}}})
	default:
		w.fatal("hypernodes: %q: no such word", key)
	}
}

// nearness parses hard, hard:2, hard:rack and soft.
func nearness(_ *world, text string) *schedulingv1beta1.NetworkTopologySpec {
	if text == "" {
		return nil
	}
	mode, tier, _ := strings.Cut(text, ":")
	t := &schedulingv1beta1.NetworkTopologySpec{Mode: schedulingv1beta1.NetworkTopologyMode(mode)}
	if n, err := strconv.Atoi(tier); err == nil {
		t.HighestTierAllowed = &n
	} else {
		t.HighestTierName = tier
	}
	return t
}

// subGroups parses SIZE:MIN:KEY,KEY. The pods of policy NAME have the label kind=NAME. Policy "all" selects all pods.
func subGroups(w *world, name, text, topology string) schedulingv1beta1.SubGroupPolicySpec {
	parts := strings.Split(text, ":")
	size, least := int32(number(w, parts[0])), int32(number(w, parts[1]))
	p := schedulingv1beta1.SubGroupPolicySpec{Name: name, SubGroupSize: &size, MinSubGroups: &least, NetworkTopology: nearness(w, topology)}
	if parts[2] != "" {
		p.MatchLabelKeys = strings.Split(parts[2], ",")
	}
	if name != "all" {
		p.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"kind": name}}
	}
	return p
}

// annotate records the HyperNode of a gang.
func (w *world) annotate(g *decision.GangStatus) {
	if g.HyperNode == nil {
		return
	}
	gang := w.gangs[g.Gang.Name]
	if gang.Annotations == nil {
		gang.Annotations = map[string]string{}
	}
	gang.Annotations[keys.AllocatedHyperNode] = *g.HyperNode
}
