package v1alpha1

import (
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateHyperNode returns the validation errors of a single HyperNode. Conflicts between HyperNodes are detected by
// the scheduler, which reports them in their conditions.
func ValidateHyperNode(h *HyperNode) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if h.Spec.Tier < 0 {
		errs = append(errs, field.Invalid(spec.Child("tier"), h.Spec.Tier, "must not be negative"))
	}
	members := spec.Child("members")
	if len(h.Spec.Members) == 0 {
		errs = append(errs, field.Required(members, "member must have at least one member; otherwise the HyperNode has no nodes"))
	}
	for i := range h.Spec.Members {
		errs = append(errs, validateMember(h.Name, &h.Spec.Members[i], members.Index(i))...)
	}
	return errs
}

func validateMember(self string, m *MemberSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	selector := path.Child("selector")
	switch s := &m.Selector; s.kinds() {
	case 0:
		return append(errs, field.Required(selector, "Either ExactMatch or RegexMatch or LabelMatch must be specified"))
	case 1:
	default:
		return append(errs, field.Forbidden(selector, "Only one of ExactMatch, RegexMatch, or LabelMatch can be specified"))
	}
	switch m.Type {
	case MemberTypeNode:
	case MemberTypeHyperNode:
		if m.Selector.ExactMatch == nil {
			errs = append(errs, field.Forbidden(selector, "HyperNodes can be selected only by exactMatch"))
		} else if m.Selector.ExactMatch.Name == self {
			errs = append(errs, field.Invalid(selector.Child("exactMatch", "name"), self, "a HyperNode cannot be its own member"))
		}
	default:
		errs = append(errs, field.NotSupported(path.Child("type"), m.Type, []MemberType{MemberTypeNode, MemberTypeHyperNode}))
	}
	return append(errs, validateSelector(&m.Selector, selector)...)
}

func (s *MemberSelector) kinds() int {
	n := 0
	for _, set := range []bool{s.ExactMatch != nil, s.RegexMatch != nil, s.LabelMatch != nil} {
		if set {
			n++
		}
	}
	return n
}

func validateSelector(s *MemberSelector, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if m := s.ExactMatch; m != nil {
		for _, text := range validation.IsDNS1123Subdomain(m.Name) {
			errs = append(errs, field.Invalid(path.Child("exactMatch", "name"), m.Name, text))
		}
	}
	if m := s.RegexMatch; m != nil {
		if _, err := regexp.Compile(m.Pattern); err != nil || m.Pattern == "" {
			errs = append(errs, field.Invalid(path.Child("regexMatch", "pattern"), m.Pattern, "must be a valid regular expression in RE2 syntax"))
		}
	}
	if m := s.LabelMatch; m != nil {
		if _, err := metav1.LabelSelectorAsSelector(m); err != nil {
			errs = append(errs, field.Invalid(path.Child("labelMatch"), "", err.Error()))
		}
	}
	return errs
}
