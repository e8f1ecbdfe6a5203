package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMutantsAreEveryKindOfSmallChange(t *testing.T) {
	t.Parallel()
	source := `package p

func f(a int, b bool) (int, bool) {
	if a < 3 && b {
		a++
	}
	x := "s" + "t"
	g(x)
	if !b {
		return a - 1, true
	}
	return a, false
}
`
	found, err := mutantsIn("p.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range found {
		got = append(got, fmt.Sprintf("%d: %s", m.line, m.what))
		if _, err := parser.ParseFile(token.NewFileSet(), "p.go", m.source, 0); err != nil {
			t.Errorf("%s is no Go: %v", m.what, err)
		}
	}
	slices.Sort(got)
	want := []string{
		"10: - to +", "10: 1 to 2", "10: return false", "12: return true",
		"4: && to ||", "4: 3 to 4", "4: < to <=", "4: drop if a < 3 && b { a++ }", "4: negate a < 3 && b", "5: drop a++",
		"8: drop g(x)", "9: drop !", "9: drop if !b { return a - 1, true }", "9: negate !b",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mutants (-want +got):\n%s", diff)
	}
}
