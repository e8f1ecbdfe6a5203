// Command testlog runs `go test` with its own arguments and prints a line for each package when the package's tests
// end. This is followed by the slowest tests, by the skipped tests and their reasons, so that a skipped test is not
// mistaken for one that passed, and by the output of failed tests. The last line is the overall result in the same words as in go test.
//
//	go run ./hack/testlog -p 1 ./test/...
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// module is the name printed with the overall result.
const module = "github.com/vc-batch/vc"

// event is a line of the output of `go test -json` (see `go doc test2json`).
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

func main() {
	start := time.Now()
	cmd := exec.Command("go", append([]string{"test", "-json"}, os.Args[1:]...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(2)
	}
	s := newSummary(os.Stdout)
	s.readEvents(out)
	err = cmd.Wait()
	s.printResult(time.Since(start), err == nil)
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	default:
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(2)
	}
}

// summary collects the results that `go test -json` reports.
type summary struct {
	out      io.Writer
	output   map[string]*strings.Builder // by package and test; the test name is empty for a package's own output
	failures []string                    // output of failed tests and packages, in the order in which they ended
	skips    map[string]int              // number of skipped tests by reason
	slow     []event                     // end events of tests that took at least slowTest
	packages int
	failed   int
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, output: map[string]*strings.Builder{}, skips: map[string]int{}}
}

// readEvents handles events until the stream ends.
func (s *summary) readEvents(in io.Reader) {
	d := json.NewDecoder(in)
	for {
		var e event
		if err := d.Decode(&e); err != nil {
			return // the stream ended, or go test itself failed, which its exit code indicates
		}
		if e.Test != "" {
			s.handleTestEvent(e)
		} else {
			s.handlePackageEvent(e)
		}
	}
}

const (
	// slowTest is the least time of a test that is listed as slow.
	slowTest = 10 * time.Second
	// mostSlowTests is the maximum number of tests in this list.
	mostSlowTests = 30
)

func (s *summary) handleTestEvent(e event) {
	isPart := strings.Contains(e.Test, "/") // the time of a test includes that of its parts
	if !isPart && e.Elapsed >= slowTest.Seconds() {
		s.slow = append(s.slow, e)
	}
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		s.storeOutput(key, e.Output)
	case "fail":
		s.failures = append(s.failures, s.takeOutput(key))
	case "skip":
		s.skips[skipReason(s.takeOutput(key))]++
	case "pass":
		delete(s.output, key)
	}
}

func (s *summary) handlePackageEvent(e event) {
	switch e.Action {
	case "output":
		s.storeOutput(e.Package+" ", e.Output)
	case "build-output":
		s.storeOutput(e.ImportPath+" ", e.Output)
	case "build-fail":
		s.failures = append(s.failures, s.takeOutput(e.ImportPath+" "))
	case "pass", "fail", "skip":
		s.packageEnd(e)
	}
}

// packageEnd prints the line of a package. If the package's tests were aborted by a panic or a timeout, the output of
// unfinished tests counts as failures.
func (s *summary) packageEnd(e event) {
	own := s.takeOutput(e.Package + " ")
	if e.Action == "skip" || strings.Contains(own, "[no test files]") {
		return
	}
	s.packages++
	if e.Action == "pass" {
		fmt.Fprintf(s.out, "ok  \t%s\t%.3fs\n", e.Package, e.Elapsed)
		return
	}
	s.failed++
	fmt.Fprintf(s.out, "FAIL\t%s\t%.3fs\n", e.Package, e.Elapsed)
	for _, key := range slices.Sorted(maps.Keys(s.output)) {
		if strings.HasPrefix(key, e.Package+" ") {
			s.failures = append(s.failures, s.takeOutput(key))
		}
	}
	s.failures = append(s.failures, own)
}

// printResult prints the slowest tests, the skipped tests, the failures and the result.
func (s *summary) printResult(took time.Duration, passed bool) {
	slices.SortStableFunc(s.slow, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	for _, e := range s.slow[:min(len(s.slow), mostSlowTests)] {
		fmt.Fprintf(s.out, "slow %6.0fs: %s %s\n", e.Elapsed, strings.TrimPrefix(e.Package, module+"/"), e.Test)
	}
	for _, reason := range slices.Sorted(maps.Keys(s.skips)) {
		fmt.Fprintf(s.out, "skipped %4d: %s\n", s.skips[reason], reason)
	}
	for _, text := range s.failures {
		if strings.TrimSpace(text) != "" {
			fmt.Fprintf(s.out, "\n%s", text)
		}
	}
	word := "ok  "
	if !passed {
		word = "FAIL"
	}
	fmt.Fprintf(s.out, "%d packages, %d failed\n", s.packages, s.failed)
	fmt.Fprintf(s.out, "%s\t%s\t%.3fs\n", word, module, took.Seconds())
}

func (s *summary) storeOutput(key, text string) {
	if s.output[key] == nil {
		s.output[key] = &strings.Builder{}
	}
	s.output[key].WriteString(text)
}

// takeOutput returns the output stored under key and removes it.
func (s *summary) takeOutput(key string) string {
	kept := s.output[key]
	delete(s.output, key)
	if kept == nil {
		return ""
	}
	return kept.String()
}

// skipReason returns the reason why a test was skipped, without the position in the source.
func skipReason(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "===") {
			continue
		}
		place, reason, found := strings.Cut(line, ": ")
		if found && strings.Contains(place, "_test.go:") {
			return reason
		}
		return line
	}
	return "no reason given"
}
