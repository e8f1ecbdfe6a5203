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

// full is the environment variable that asks for every seed: VC_SEEDS=full.
const full = "VC_SEEDS"

// Check runs a property n times if VC_SEEDS=full, a twentieth of n otherwise, and a hundredth with -short; -rapid.checks overrides all of these.
// A failure is followed by the command that repeats it. Check reports whether all n were run: only then can a test require that something
// happened at least once.
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

// Full reports whether VC_SEEDS=full asks for every seed.
func Full() bool { return os.Getenv(full) == "full" }

// fewest is how many seeds a run tries at least, so that a property with a small n still sees more than one case.
const fewest = 10

// share returns how many of n seeds a run tries.
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
