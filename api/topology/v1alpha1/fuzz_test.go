package v1alpha1

import (
	"regexp"
	"testing"
)

// FuzzPattern verifies that an accepted pattern is a valid regular expression, and that an invalid one is rejected with
// its field.
func FuzzPattern(f *testing.F) {
	for _, seed := range []string{"", "^a-[0-9]+$", "(", "a{1001}", "((a{100}){100}){100}", `\p{Greek}`, `\Q`, "(?i)A", "(?P<n>x)", "(?=x)", `\1`, "[z-a]", "\xff", "a**", ".*.*.*.*.*x"} {
		f.Add(seed, "a-17")
	}
	f.Fuzz(func(t *testing.T, pattern, node string) {
		errs := ValidateHyperNode(&HyperNode{Spec: HyperNodeSpec{Members: []MemberSpec{
			{Type: MemberTypeNode, Selector: MemberSelector{RegexMatch: &RegexMatch{Pattern: pattern}}},
		}}})
		compiled, err := regexp.Compile(pattern)
		switch {
		case len(errs) == 0 && (err != nil || pattern == ""):
			t.Fatalf("%q is let in: %v", pattern, err)
		case len(errs) == 0:
			compiled.MatchString(node)
		case err == nil && pattern != "":
			t.Fatalf("%q is refused: %v", pattern, errs)
		case len(errs) != 1 || errs[0].Field != "spec.members[0].selector.regexMatch.pattern":
			t.Fatalf("%q: want one error at its field, got %v", pattern, errs)
		}
	})
}
