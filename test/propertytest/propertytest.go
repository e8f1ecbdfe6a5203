// Package propertytest runs property tests on many seeds, and prints a command that repeats a failed run.
package propertytest

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

// rapidChecks is the default of -rapid.checks in rapid. A different value means that the user set the flag.
const rapidChecks = "100"

// base is the seed of a run without -rapid.seed. Every run therefore tests the same cases: a change that breaks one
// fails for its author, and other runs do not fail by chance. Use -rapid.seed to test other cases and -rapid.checks to
// test more.
const base = "1"

// full is the environment variable that selects every seed: VC_SEEDS=full.
const full = "VC_SEEDS"

// Check runs a property n times if VC_SEEDS=full, a hundredth of n with -short, and a twentieth of n otherwise.
// -rapid.checks overrides these numbers. After a failure, Check prints the command that repeats it. It reports whether
// all n cases were run: only then can a test require that something happened at least once.
func Check(t *testing.T, n int, property func(*rapid.T)) (whole bool) {
	t.Helper()
	all := strconv.Itoa(n)
	n = share(n, Full(), testing.Short())
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

// Full reports whether VC_SEEDS=full is set.
func Full() bool { return os.Getenv(full) == "full" }

// fewest is the minimum number of seeds, so that a property with a small n is tested with more than one case.
const fewest = 10

// share returns the number of seeds to try of n seeds.
func share(n int, everySeed, short bool) int {
	switch {
	case everySeed:
		return n
	case short:
		return min(n, max(n/100, fewest))
	default:
		return min(n, max(n/20, fewest))
	}
}

// given sets a flag to ours if it has its default value. It returns the flag's value and a function that restores the
// previous value.
func given(name, byDefault, ours string) (value string, restore func()) {
	f := flag.Lookup(name)
	if f == nil {
		panic(fmt.Sprintf("rapid has no flag %s", name)) // a different version of rapid
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

// quote quotes a text as one word for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// directory returns the directory of the test, relative to the root of the module.
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
