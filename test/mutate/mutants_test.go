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
		got[strings.TrimPrefix(o.Mutant, "example.org/p/p.go ")] = fate
	}
	want := map[string]string{
		"f: && to || in a < 3 && b": "survives", "f: 3 to 4": "survives", "f: < to <= in a < 3": "survives",
		"f: drop if a < 3 && b { a++ }": "survives", "f: negate a < 3 && b": "killed", "f: drop a++": "not reached",
		"f: drop g(x)": "survives", "f: drop ! of !b": "killed", "f: drop if !b { return a-1, true }": "killed",
		"f: - to + in a-1": "killed", "f: 1 to 2": "killed", "f: return false": "killed", "f: return true": "not reached",
		"h: == to != in n == 7": "not reached",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what became of the mutants (-want +got):\n%s", diff)
	}
}

// TestAnOutcomeIsUsedUntilItsFunctionChanges verifies that outcomes stay usable when other code of the file changes.
func TestAnOutcomeIsUsedUntilItsFunctionChanges(t *testing.T) {
	t.Parallel()
	parse := func(source string) map[string]*mutant {
		found, err := mutantsIn("p.go", []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		byName := map[string]*mutant{}
		for _, m := range found {
			byName[m.name()] = m
		}
		return byName
	}
	before := parse(changedPackage)
	known := map[string]outcome{}
	for name, m := range before {
		known[name] = outcome{Mutant: name, Code: m.code}
	}
	after := parse(strings.Replace(changedPackage, "package p\n", "package p\n\nfunc added() int { return 1 }\n", 1))
	for name := range before {
		if m := after[name]; m == nil || !hasOutcome(known, m) {
			t.Errorf("%s: the outcome is no longer used, although its function has not changed", name)
		}
	}
	after = parse(strings.Replace(changedPackage, "a < 3", "a < 4", 1))
	for name, m := range after {
		isChanged := strings.HasPrefix(name, "/p.go f: ")
		if hasOutcome(known, m) == isChanged {
			t.Errorf("%s: outcome used: %t", name, !isChanged)
		}
	}
}
