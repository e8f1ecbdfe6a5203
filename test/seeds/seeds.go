// Package seeds runs property tests on many seeds, and says with one command how
// to run a failing one again.
package seeds

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// rapid's own default of -rapid.checks, by which it is seen that nobody gave the flag.
const rapidChecks = "100"

// base is the seed of a run that names none: the same cases each time, so that a
// change that breaks one is seen by who made it, and nobody else's run fails by
// chance. -rapid.seed looks elsewhere, -rapid.checks further.
const base = "1"

// Check runs a property n times, or as often as -rapid.checks says; a tenth of n
// with -short. A failure is followed by the command that repeats it. It returns
// whether all n were run: what is to have happened at least once in so many can
// be asked only then.
func Check(t *testing.T, n int, property func(*rapid.T)) (whole bool) {
	t.Helper()
	all := strconv.Itoa(n)
	if testing.Short() {
		n = max(n/10, 1)
	}
	checks, restoreChecks := given("rapid.checks", rapidChecks, strconv.Itoa(n))
	seed, restoreSeed := given("rapid.seed", "0", base)
	defer restoreChecks()
	defer restoreSeed()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to repeat it:\n\tgo test %s -run %s -rapid.seed=%s -rapid.checks=%s", directory(), quote("^"+t.Name()+"$"), seed, checks)
		}
	})
	rapid.Check(t, property)
	return checks == all && !t.Failed()
}

// given is the value of a flag, which becomes ours while it is at its default.
func given(name, byDefault, ours string) (value string, restore func()) {
	f := flag.Lookup(name)
	if f == nil {
		panic(fmt.Sprintf("rapid has no flag %s", name)) // another version of it
	}
	before := f.Value.String()
	if before != byDefault {
		return before, func() {}
	}
	if err := f.Value.Set(ours); err != nil {
		panic(err)
	}
	return ours, func() {
		if err := f.Value.Set(before); err != nil {
			panic(err)
		}
	}
}

// quote makes one word of a text for a shell, whatever is in it.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// directory is where the test is, from the root of the module.
func directory() string {
	here, err := os.Getwd()
	if err != nil {
		return "."
	}
	for root := here; root != filepath.Dir(root); root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
			continue
		}
		if rel, err := filepath.Rel(root, here); err == nil {
			return "./" + filepath.ToSlash(rel)
		}
	}
	return "."
}
