package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// simulator is the package of the simulator.
const simulator = "./test/sim"

// measurements matches the tests that measure time or memory. The switches change both, so these tests are not run.
const measurements = "Floor$"

// goPackage is what go list prints about a package.
type goPackage struct {
	Dir, ImportPath, Name, ForTest string
	GoFiles, Deps                  []string
	TestGoFiles, XTestGoFiles      []string
}

func (p *goPackage) hasTests() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// listPackages returns the packages that match the patterns. Further arguments of go list may stand before these.
func listPackages(ctx context.Context, arguments []string) ([]*goPackage, error) {
	fields := "-json=Dir,ImportPath,Name,ForTest,GoFiles,Deps,TestGoFiles,XTestGoFiles"
	out, err := runGo(ctx, append([]string{"list", fields}, arguments...)...)
	if err != nil {
		return nil, err
	}
	var packages []*goPackage
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, &p)
	}
}

// runGo runs the go command and returns what it writes to stdout. The error contains what it writes to stderr.
func runGo(ctx context.Context, arguments ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", arguments...) //nolint:gosec // arguments come from the developer
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", arguments[0], err, stderr.Bytes())
	}
	return stdout.Bytes(), nil
}

// build builds the packages with mutants.
type build struct {
	directory string
	packages  []*goPackage
}

// overlayFile returns the name of the file that lists the changed files for the compiler.
func (b *build) overlayFile() string { return filepath.Join(b.directory, "overlay.json") }

// chooseValid returns the first candidates that compile, at most count. It numbers them and writes the overlay.
func (b *build) chooseValid(ctx context.Context, candidates []*mutant, count int) ([]*mutant, error) {
	chosen := slices.Clone(candidates[:min(count, len(candidates))])
	next := len(chosen)
	for i, m := range candidates {
		m.number = i + 1
	}
	for {
		changed, err := b.writeOverlay(chosen)
		if err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-gcflags=-e", "-overlay", b.overlayFile()}, importPaths(b.packages)...)...) //nolint:gosec // as above
		out, err := cmd.CombinedOutput()
		if err == nil {
			return chosen, nil
		}
		invalid := findInvalid(string(out), changed)
		if len(invalid) == 0 {
			return nil, fmt.Errorf("build with mutants: %w\n%s", err, out)
		}
		chosen = slices.DeleteFunc(chosen, func(m *mutant) bool { return invalid[m.number] })
		for len(chosen) < count && next < len(candidates) {
			chosen = append(chosen, candidates[next])
			next++
		}
	}
}

func importPaths(packages []*goPackage) []string {
	paths := make([]string, len(packages))
	for i, p := range packages {
		paths[i] = p.ImportPath
	}
	return paths
}

var (
	compileError = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):(\d+): `)
	mutantCall   = regexp.MustCompile(`mutant[A-Za-z]*\((\d+)`)
)

// findInvalid returns the numbers of the mutants that the compiler rejects. For each error, it blames the closest mutant in
// the same line, or else the last one in an earlier line, because the errors of some mutants are at the end of a block or
// function.
func findInvalid(output string, changed map[string][]byte) map[int]bool {
	invalid := map[int]bool{}
	for _, place := range compileError.FindAllStringSubmatch(output, -1) {
		path, err := filepath.Abs(place[1])
		if err != nil {
			continue
		}
		lineNumber, _ := strconv.Atoi(place[2])
		column, _ := strconv.Atoi(place[3])
		lines := strings.Split(string(changed[path]), "\n")
		if lineNumber > len(lines) {
			continue
		}
		if number, ok := closestMutant(lines[lineNumber-1], column-1); ok {
			invalid[number] = true
		} else if number, ok := closestMutant(strings.Join(lines[:lineNumber-1], "\n"), math.MaxInt32); ok {
			invalid[number] = true
		}
	}
	return invalid
}

// closestMutant returns the number of the mutant whose call is closest to an offset of a text.
func closestMutant(text string, offset int) (number int, ok bool) {
	closest := math.MaxInt
	for _, call := range mutantCall.FindAllStringSubmatchIndex(text, -1) {
		distance := max(call[0]-offset, offset-call[0])
		if distance <= closest {
			closest, ok = distance, true
			number, _ = strconv.Atoi(text[call[2]:call[3]])
		}
	}
	return number, ok
}

// writeOverlay writes the changed files and the overlay that lists them. It returns the changed sources, both by the path
// of the original and by that of the changed file, because the compiler prints either of them.
func (b *build) writeOverlay(mutants []*mutant) (map[string][]byte, error) {
	byFile := map[string][]*mutant{}
	for _, m := range mutants {
		byFile[m.file] = append(byFile[m.file], m)
	}
	sources := map[string][]byte{}
	for file, list := range byFile {
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		sources[file] = addMutants(source, list)
	}
	for _, p := range b.packages {
		if slices.ContainsFunc(mutants, func(m *mutant) bool { return m.pkg == p.ImportPath }) {
			sources[filepath.Join(p.Dir, switchesFile)] = switchesSource(p.Name)
		}
	}
	overlay := map[string]map[string]string{"Replace": {}}
	for path, source := range maps.Clone(sources) {
		replacement := filepath.Join(b.directory, strings.ReplaceAll(strings.Trim(path, "/"), "/", "_"))
		if err := os.WriteFile(replacement, source, 0o600); err != nil {
			return nil, err
		}
		overlay["Replace"][path] = replacement
		sources[replacement] = source
	}
	data, err := json.Marshal(overlay)
	if err != nil {
		return nil, err
	}
	return sources, os.WriteFile(b.overlayFile(), data, 0o600)
}

// suite is the test program of a package.
type suite struct {
	pkg       string
	directory string // in which it is run
	program   string
	arguments []string
}

// buildTests builds the test programs that can reach a mutant.
func (b *build) buildTests(ctx context.Context, mutants []*mutant, o *options) ([]*suite, error) {
	mutated := map[string]bool{}
	for _, m := range mutants {
		mutated[m.pkg] = true
	}
	patterns := append(slices.Clone(o.tests), o.packages...)
	if o.seeds > 0 {
		patterns = append(patterns, simulator)
	}
	listed, err := listPackages(ctx, append([]string{"-test"}, patterns...))
	if err != nil {
		return nil, err
	}
	directories := map[string]string{}
	for _, p := range listed {
		if p.hasTests() && p.ForTest == "" {
			directories[p.ImportPath] = p.Dir
		}
	}
	var suites []*suite
	for _, p := range listed {
		tested, isProgram := strings.CutSuffix(p.ImportPath, ".test")
		directory, ok := directories[tested]
		if !isProgram || !ok || !dependsOnAny(p, mutated) {
			continue
		}
		s := &suite{pkg: tested, directory: directory, program: filepath.Join(b.directory, strconv.Itoa(len(suites))+".test")}
		s.arguments = []string{"-test.failfast", "-test.timeout=0", "-test.skip=" + measurements}
		if strings.HasSuffix(tested, strings.TrimPrefix(simulator, ".")) {
			s.arguments = append(s.arguments, "-test.run=^TestSeeds$", "-seeds="+strconv.Itoa(o.seeds))
		}
		fmt.Fprintf(os.Stderr, "building the tests of %s\n", tested)
		if _, err := runGo(ctx, "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", b.overlayFile(), "-o", s.program, tested); err != nil {
			return nil, err
		}
		suites = append(suites, s)
	}
	return suites, nil
}

// dependsOnAny reports whether a test program contains any of the packages.
func dependsOnAny(program *goPackage, packages map[string]bool) bool {
	return slices.ContainsFunc(program.Deps, func(dependency string) bool {
		path, _, _ := strings.Cut(dependency, " ") // a package that is compiled for a test has the test's name after a space
		return packages[path]
	})
}
