// Command mutate makes small changes to packages and lists those that neither a test nor the simulator of package
// test/sim detects. All changes are compiled into the packages at once, each behind a switch, and one after the other is
// enabled. The compiler receives the changed files as an overlay, so no file of the tree is modified.
//
//	go run ./test/mutate [-count 300] [-seed 1] [-seeds 500] [-tests PATTERN,...] [-files NAME,...] [-results FILE] PACKAGE...
//
// For each mutant, the tests of its own package run first, then those of the packages that depend on it, and then the
// simulator. Tests that do not reach the mutant are skipped. The first failure, or a test that takes much longer than
// without the mutant, kills it.
//
// The seed determines which mutants are chosen. With -results, outcomes are added to a file, and mutants whose outcome
// is in the file are not tried again, unless their function has changed.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// options holds the command line.
type options struct {
	packages []string // patterns of go list
	tests    []string // patterns of the packages whose tests are run besides those of the mutated packages
	files    []string // names of files; empty: all
	results  string
	count    int
	seed     uint64
	seeds    int // number of seeds of the simulator; 0: it is not run
}

// defaultTests are the packages whose tests check several of the packages that the simulator drives.
const defaultTests = "./internal/scheduler/...,./internal/model/...,./internal/outbox/...,./internal/controllers/...,./internal/admission/...," +
	"./internal/daemon/...,./internal/feed/...,./internal/whatif/...,./test/scenarios/..."

func main() {
	var o options
	var tests, files string
	flag.IntVar(&o.count, "count", 300, "number of mutants to try")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the choice of mutants")
	flag.IntVar(&o.seeds, "seeds", 500, "number of seeds of the simulator; 0: do not run it")
	flag.StringVar(&tests, "tests", defaultTests, "packages whose tests are run besides those of the mutated packages, separated by commas")
	flag.StringVar(&files, "files", "", "names of the files to change, separated by commas; empty: all")
	flag.StringVar(&o.results, "results", "", "file to which outcomes are added; mutants whose outcome it has are not tried again")
	flag.Parse()
	o.packages, o.tests, o.files = flag.Args(), splitList(tests), splitList(files)
	if len(o.packages) == 0 {
		fmt.Fprintln(os.Stderr, "mutate: name the packages to change, for example ./internal/outbox")
		os.Exit(2)
	}
	if o.count < 1 || o.seeds < 0 {
		fmt.Fprintln(os.Stderr, "mutate: -count must be at least 1, and -seeds at least 0")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := tryMutants(ctx, &o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func splitList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// tryMutants chooses mutants, tries them and prints the outcomes.
func tryMutants(ctx context.Context, o *options) error {
	packages, err := listPackages(ctx, o.packages)
	if err != nil {
		return err
	}
	candidates, err := drawMutants(packages, o)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "vc-mutate-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	build := &build{directory: scratch, packages: packages}
	chosen, err := build.chooseValid(ctx, candidates, o.count)
	if err != nil {
		return err
	}
	fmt.Printf("%d mutants of %d packages, seed %d\n", len(chosen), len(packages), o.seed)
	suites, err := build.buildTests(ctx, chosen, o)
	if err != nil {
		return err
	}
	known, err := readResults(o.results)
	if err != nil {
		return err
	}
	return runAll(ctx, chosen, suites, known, o)
}

// drawMutants returns all mutants of the packages in an order that the seed determines.
func drawMutants(packages []*goPackage, o *options) ([]*mutant, error) {
	var all []*mutant
	for _, p := range packages {
		for _, name := range p.GoFiles {
			if len(o.files) > 0 && !slices.Contains(o.files, name) {
				continue
			}
			found, err := mutantsOf(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			for _, m := range found {
				m.pkg = p.ImportPath
			}
			all = append(all, found...)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("these packages have nothing to change; check their names and -files")
	}
	slices.SortFunc(all, func(a, b *mutant) int { return bytes.Compare(drawKey(o.seed, a), drawKey(o.seed, b)) })
	return all, nil
}

// drawKey returns the key by which mutants are ordered. It looks random, but the order of two mutants does not depend on
// other mutants, so most of those that a seed chooses stay the same when code changes.
func drawKey(seed uint64, m *mutant) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, m.name()))
	return sum[:]
}
