// Command mutate makes small changes to a package, one at a time, runs the package's own tests against each change, and
// lists the changes that no test detects. The compiler receives a change as an overlay, so no file of the tree is
// modified.
//
//	go run ./test/mutate [-files fence.go,leader.go] [-time 3m] [-seed 1] [-run TestX] [-tests ./other/package] ./internal/daemon
//
// The seed determines the order of the mutants, so a run with a time limit tries a sample. The same seed gives the same
// sample.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options holds the command line.
type options struct {
	files, run, tests string
	time, testTime    time.Duration
	seed              uint64
}

// Possible outcomes of testing a mutant.
const (
	killed   = "killed"
	survived = "SURVIVED"
	timeout  = "killed by time"
	invalid  = "does not compile"
)

func main() {
	var o options
	flag.StringVar(&o.files, "files", "", "file names of the package to change, separated by commas; empty: all")
	flag.StringVar(&o.run, "run", "", "tests to run, as go test -run has it; empty: all")
	flag.StringVar(&o.tests, "tests", "", "further packages whose tests are run, separated by commas")
	flag.DurationVar(&o.time, "time", 3*time.Minute, "how long mutants are tried")
	flag.DurationVar(&o.testTime, "test-time", 2*time.Minute, "how long the tests of one mutant may take")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the order of mutants")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "mutate: name one package, for example ./internal/daemon")
		os.Exit(2)
	}
	if err := testMutants(flag.Arg(0), o); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// testMutants tests the mutants of a package and prints the outcome of each.
func testMutants(pkg string, o options) error {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}\n{{range .GoFiles}}{{.}}\n{{end}}", pkg).Output()
	if err != nil {
		return fmt.Errorf("package %s: %w", pkg, err)
	}
	lines := strings.Fields(string(out))
	if len(lines) == 0 {
		return fmt.Errorf("package %s has no directory", pkg)
	}
	dir, wanted := lines[0], strings.Split(o.files, ",")
	var all []mutant
	for _, name := range lines[1:] {
		if o.files != "" && !slices.Contains(wanted, name) {
			continue
		}
		found, err := mutantsOf(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return errors.New("nothing to change: check -files")
	}
	draw := rand.New(rand.NewPCG(o.seed, 0)) //nolint:gosec // the same seed must draw the same mutants
	draw.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return tryMutants(all, pkg, o)
}

// tryMutants runs the tests against one mutant after another until the time limit is reached.
func tryMutants(all []mutant, pkg string, o options) error {
	scratch, err := os.MkdirTemp("", "vc-mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	t := tester{scratch: scratch, packages: []string{pkg}, options: o}
	if o.tests != "" {
		t.packages = append(t.packages, strings.Split(o.tests, ",")...)
	}
	if outcome, text, err := t.runTests(mutant{}); err != nil || outcome != killed && outcome != survived {
		return fmt.Errorf("unchanged, the tests: %s %w\n%s", outcome, err, text)
	} else if outcome == killed {
		return fmt.Errorf("unchanged, the tests fail:\n%s", text)
	}
	counts, began := map[string]int{}, time.Now()
	for _, m := range all {
		if time.Since(began) > o.time {
			break
		}
		outcome, _, err := t.runTests(m)
		if err != nil {
			return err
		}
		counts[outcome]++
		fmt.Fprintf(os.Stdout, "%-16s %s:%d: %s\n", outcome, filepath.Base(m.file), m.line, m.what)
	}
	tried := counts[killed] + counts[timeout] + counts[survived]
	fmt.Fprintf(os.Stdout, "%s: %d of %d mutants tried in %s, %d killed (%d by time), %d survived; seed %d\n",
		pkg, tried, len(all), time.Since(began).Round(time.Second), counts[killed]+counts[timeout], counts[timeout], counts[survived], o.seed)
	return nil
}

// tester runs tests against mutants.
type tester struct {
	scratch  string
	packages []string
	options
}

// runTests runs the tests against a mutant. The zero mutant stands for the unchanged package.
func (t *tester) runTests(m mutant) (outcome, text string, err error) {
	overlay := map[string]map[string]string{"Replace": {}}
	if m.file != "" {
		changed := filepath.Join(t.scratch, "mutant.go")
		if err := os.WriteFile(changed, m.source, 0o600); err != nil {
			return "", "", err
		}
		overlay["Replace"][m.file] = changed
	}
	data, err := json.Marshal(overlay)
	if err != nil {
		return "", "", err
	}
	file := filepath.Join(t.scratch, "overlay.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return "", "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.testTime)
	defer cancel()
	arguments := []string{"test", "-overlay", file, "-vet=off", "-short", "-failfast", "-ldflags=-s -w"}
	if t.run != "" {
		arguments = append(arguments, "-run", t.run)
	}
	cmd := exec.CommandContext(ctx, "go", append(arguments, t.packages...)...) //nolint:gosec // the tests of this project
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return survived, "", nil
	case ctx.Err() != nil:
		return timeout, string(out), nil
	case strings.Contains(string(out), "[build failed]"):
		return invalid, string(out), nil
	}
	return killed, string(out), nil
}
