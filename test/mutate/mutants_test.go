package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const changedPackage = `package p

func f(a int, b bool) (int, bool) {
	if a < 3 && b {
		a++
	}
	x := "s" + "t"
	g(x)
	if !b {
		return a-1, true
	}
	return a, false
}

func g(string) {}

func h(n int32) bool { return n == 7 } // 7 to 8 does not compile, because the result of mutantNext is an int
`

func TestMutantsAreEveryKindOfSmallChange(t *testing.T) {
	t.Parallel()
	found, err := mutantsIn("p.go", []byte(changedPackage))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, m := range found {
		m.number = i + 1
		got = append(got, fmt.Sprintf("%d: %s", m.line, m.what))
	}
	slices.Sort(got)
	want := []string{
		"10: - to + in a-1", "10: 1 to 2", "10: return false", "12: return true", "17: 7 to 8", "17: == to != in n == 7", "4: && to || in a < 3 && b", "4: 3 to 4",
		"4: < to <= in a < 3", "4: drop if a < 3 && b { a++ }", "4: negate a < 3 && b", "5: drop a++", "8: drop g(x)",
		"9: drop ! of !b", "9: drop if !b { return a-1, true }",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mutants (-want +got):\n%s", diff)
	}
	if changed := addMutants([]byte(changedPackage), found); strings.Count(string(changed), "\n") != strings.Count(changedPackage, "\n") {
		t.Errorf("the lines have other numbers:\n%s", changed)
	} else if _, err := parser.ParseFile(token.NewFileSet(), "p.go", changed, 0); err != nil {
		t.Errorf("%v:\n%s", err, changed)
	}
}

// TestOneMutantIsEnabledAtATime builds a module with all its mutants, and verifies which of them its test detects.
func TestOneMutantIsEnabledAtATime(t *testing.T) {
	directory := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.org/p\n\ngo 1.26\n",
		"p.go":      changedPackage,
		"p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif n, ok := f(5, false); n != 4 || !ok {\n\t\tt.Error(n, ok)\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(directory)
	results := filepath.Join(directory, "results")
	o := &options{packages: []string{"."}, results: results, count: 100, seed: 1}
	if err := tryMutants(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	known, err := readResults(results)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, o := range known {
		fate := "survives"
		switch {
		case o.Killer != "":
			fate = "killed"
		case !o.Reached:
			fate = "not reached"
		}
		got[strings.TrimPrefix(o.Mutant, "example.org/p/p.go:")] = fate
	}
	want := map[string]string{
		"4: && to || in a < 3 && b": "survives", "4: 3 to 4": "survives", "4: < to <= in a < 3": "survives",
		"4: drop if a < 3 && b { a++ }": "survives", "4: negate a < 3 && b": "killed", "5: drop a++": "not reached",
		"8: drop g(x)": "survives", "9: drop ! of !b": "killed", "9: drop if !b { return a-1, true }": "killed",
		"10: - to + in a-1": "killed", "10: 1 to 2": "killed", "10: return false": "killed", "12: return true": "not reached",
		"17: == to != in n == 7": "not reached",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what became of the mutants (-want +got):\n%s", diff)
	}
}
