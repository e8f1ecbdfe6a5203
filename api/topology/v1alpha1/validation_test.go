package v1alpha1

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestValidateHyperNode(t *testing.T) {
	t.Parallel()
	exact := func(kind MemberType, name string) MemberSpec {
		return MemberSpec{Type: kind, Selector: MemberSelector{ExactMatch: &ExactMatch{Name: name}}}
	}
	cases := map[string]struct {
		tier    int
		members []MemberSpec
		want    string // part of the error; "" = valid
	}{
		"nodes by name":             {members: []MemberSpec{exact(MemberTypeNode, "a")}},
		"hyperNodes by name":        {tier: 2, members: []MemberSpec{exact(MemberTypeHyperNode, "s1")}},
		"nodes by pattern":          {members: []MemberSpec{{Type: MemberTypeNode, Selector: MemberSelector{RegexMatch: &RegexMatch{Pattern: "^a-[0-9]+$"}}}}},
		"nodes by label":            {members: []MemberSpec{{Type: MemberTypeNode, Selector: MemberSelector{LabelMatch: &metav1.LabelSelector{MatchLabels: map[string]string{"rack": "1"}}}}}},
		"a tier below zero":         {tier: -1, members: []MemberSpec{exact(MemberTypeNode, "a")}, want: "spec.tier"},
		"no members":                {want: "spec.members"},
		"a member selected by none": {members: []MemberSpec{{Type: MemberTypeNode}}, want: "Either ExactMatch or RegexMatch"},
		"a member selected twice": {members: []MemberSpec{{Type: MemberTypeNode, Selector: MemberSelector{
			ExactMatch: &ExactMatch{Name: "a"}, RegexMatch: &RegexMatch{Pattern: "a"}}}}, want: "Only one of"},
		"a pattern that is none": {members: []MemberSpec{{Type: MemberTypeNode, Selector: MemberSelector{RegexMatch: &RegexMatch{Pattern: "("}}}}, want: "regular expression"},
		"a label selector that is none": {members: []MemberSpec{{Type: MemberTypeNode, Selector: MemberSelector{LabelMatch: &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Is"}}}}}}, want: "labelMatch"},
		"hyperNodes by pattern":     {members: []MemberSpec{{Type: MemberTypeHyperNode, Selector: MemberSelector{RegexMatch: &RegexMatch{Pattern: "s"}}}}, want: "only by exactMatch"},
		"its own member":            {members: []MemberSpec{exact(MemberTypeHyperNode, "self")}, want: "its own member"},
		"an unknown kind of member": {members: []MemberSpec{exact("Rack", "a")}, want: "Rack"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &HyperNode{ObjectMeta: metav1.ObjectMeta{Name: "self"}, Spec: HyperNodeSpec{Tier: c.tier, Members: c.members}}
			switch err := ValidateHyperNode(h).ToAggregate(); {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}
