package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// outcome is the result of trying a mutant.
type outcome struct {
	Mutant string `json:"mutant"` // its name
	// Code is the hash of the function that the mutant changes. If the function has changed since, the outcome is not used.
	Code string `json:"code"`
	// Killer is the package whose test failed; "" if the mutant survived.
	Killer string `json:"killer,omitempty"`
	// TooSlow reports whether the test did not fail, but used much more processor time than without the mutant.
	TooSlow bool `json:"tooSlow,omitempty"`
	// Reached reports whether any test executes the changed code.
	Reached bool `json:"reached"`
}

// readResults returns the outcomes in a file by mutant. A file that does not exist has none.
func readResults(path string) (map[string]outcome, error) {
	known := map[string]outcome{}
	if path == "" {
		return known, nil
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		var o outcome
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return nil, fmt.Errorf("%s:%d: not an outcome: %w; remove the line, or use another file", path, number, err)
		}
		known[o.Mutant] = o
	}
	return known, lines.Err()
}

// hasOutcome reports whether the outcome of a mutant is known for the present code of its function.
func hasOutcome(known map[string]outcome, m *mutant) bool {
	o, ok := known[m.name()]
	return ok && o.Code == m.code
}

// measuredSuite is a suite with what its run without a mutant showed.
type measuredSuite struct {
	*suite
	cpuTime time.Duration
	reached map[int]bool // numbers of the mutants that it reaches
}

// runAll tries the mutants whose outcome is not known, and prints a summary.
func runAll(ctx context.Context, mutants []*mutant, suites []*suite, known map[string]outcome, o *options) error {
	measured, err := measureSuites(ctx, suites)
	if err != nil {
		return err
	}
	record, err := openRecord(o.results)
	if err != nil {
		return err
	}
	defer func() { _ = record.Close() }()
	var mu sync.Mutex
	next := make(chan *mutant)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for m := range next {
				result := tryMutant(ctx, m, measured)
				if ctx.Err() != nil {
					continue // the tests failed because they were stopped
				}
				mu.Lock()
				known[result.Mutant] = result
				printOutcome(m, &result)
				_ = json.NewEncoder(record).Encode(result)
				mu.Unlock()
			}
		})
	}
	for _, m := range mutants {
		mu.Lock()
		isKnown := hasOutcome(known, m)
		mu.Unlock()
		if !isKnown && ctx.Err() == nil {
			next <- m
		}
	}
	close(next)
	workers.Wait()
	printSummary(mutants, known)
	return ctx.Err()
}

// openRecord opens the file to which outcomes are added.
func openRecord(path string) (*os.File, error) {
	if path == "" {
		path = os.DevNull
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644) //nolint:gosec // not secret
}

// measureSuites runs the suites without a mutant and returns them, the fastest first and the simulator last.
func measureSuites(ctx context.Context, suites []*suite) ([]*measuredSuite, error) {
	var measured []*measuredSuite
	var mu sync.Mutex
	var workers sync.WaitGroup
	var failures []error
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, s := range suites {
		workers.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			result, err := measureSuite(ctx, s)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failures = append(failures, err)
				return
			}
			measured = append(measured, result)
		})
	}
	workers.Wait()
	slices.SortFunc(measured, func(a, b *measuredSuite) int {
		return cmp.Or(compareBool(a.isSimulator(), b.isSimulator()), cmp.Compare(a.cpuTime, b.cpuTime))
	})
	return measured, errors.Join(failures...)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (s *suite) isSimulator() bool {
	return strings.HasSuffix(s.pkg, strings.TrimPrefix(simulator, "."))
}

// measureSuite runs a suite without a mutant.
func measureSuite(ctx context.Context, s *suite) (*measuredSuite, error) {
	directory := s.program + ".reached"
	if err := os.Mkdir(directory, 0o755); err != nil {
		return nil, err
	}
	run := s.run(ctx, 0, time.Hour, reachedVariable+"="+directory)
	if run.failed {
		return nil, fmt.Errorf("the tests of %s fail without a mutant:\n%s", s.pkg, run.text)
	}
	result := &measuredSuite{suite: s, cpuTime: run.cpuTime, reached: map[int]bool{}}
	files, err := os.ReadDir(directory)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if number, err := strconv.Atoi(f.Name()); err == nil {
			result.reached[number] = true
		}
	}
	fmt.Fprintf(os.Stderr, "%s: %s, reaches %d mutants\n", s.pkg, result.cpuTime.Round(10*time.Millisecond), len(result.reached))
	return result, nil
}

// waitingLimit is how long a suite may take, as a multiple of the processor time that it may use.
const waitingLimit = 20

// suiteRun is the result of running a suite once.
type suiteRun struct {
	failed  bool // the suite failed or exceeded its limit
	text    string
	cpuTime time.Duration
}

// run runs a suite with a mutant, and stops it when it has used more processor time than the limit. Elapsed time is no good
// measure of a mutant that never ends, because other programs use the same processors. It is limited only for mutants that
// wait for ever.
func (s *suite) run(ctx context.Context, number int, limit time.Duration, environment ...string) suiteRun {
	limited, cancel := context.WithTimeout(ctx, waitingLimit*limit)
	defer cancel()
	seconds := int(limit / time.Second)
	script := fmt.Sprintf(`ulimit -t %d && exec "$0" "$@"`, seconds)
	cmd := exec.CommandContext(limited, "sh", append([]string{"-c", script, s.program}, s.arguments...)...) //nolint:gosec // a program that this process has built
	cmd.Dir = s.directory
	cmd.Env = append(os.Environ(), enabledVariable+"="+strconv.Itoa(number), "GOMAXPROCS=1")
	cmd.Env = append(cmd.Env, environment...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	result := suiteRun{failed: err != nil, text: string(out)}
	if cmd.ProcessState != nil {
		result.cpuTime = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return result
}

// cpuLimit returns how much processor time a suite may use with a mutant.
func (s *measuredSuite) cpuLimit() time.Duration { return 3*s.cpuTime + 20*time.Second }

// tryMutant runs the suites that reach a mutant until one fails. The suite of its own package comes first.
func tryMutant(ctx context.Context, m *mutant, suites []*measuredSuite) outcome {
	ordered := slices.Clone(suites)
	slices.SortStableFunc(ordered, func(a, b *measuredSuite) int { return compareBool(a.pkg != m.pkg, b.pkg != m.pkg) })
	result := outcome{Mutant: m.name(), Code: m.code}
	for _, s := range ordered {
		if !s.reached[m.number] {
			continue
		}
		result.Reached = true
		began := time.Now()
		if run := s.run(ctx, m.number, s.cpuLimit()); run.failed {
			hasWaited := time.Since(began) >= waitingLimit*s.cpuLimit()
			result.Killer, result.TooSlow = s.pkg, hasWaited || run.cpuTime >= s.cpuLimit()-time.Second
			return result
		}
	}
	return result
}

func printOutcome(m *mutant, o *outcome) {
	switch {
	case o.TooSlow:
		fmt.Printf("killed by time in %s: %s\n", o.Killer, m.describe())
	case o.Killer != "":
		fmt.Printf("killed by %s: %s\n", o.Killer, m.describe())
	case !o.Reached:
		fmt.Printf("NOT REACHED: %s\n", m.describe())
	default:
		fmt.Printf("SURVIVED: %s\n", m.describe())
	}
}

// printSummary prints the survivors, and how many mutants were killed by which kind of test.
func printSummary(mutants []*mutant, known map[string]outcome) {
	var tried, own, other, simulated, slow int
	var survivors []string
	for _, m := range mutants {
		if !hasOutcome(known, m) {
			continue
		}
		o := known[m.name()]
		tried++
		if o.TooSlow {
			slow++
		}
		switch {
		case o.Killer == "" && o.Reached:
			survivors = append(survivors, m.describe())
		case o.Killer == "":
			survivors = append(survivors, m.describe()+" (not reached)")
		case o.Killer == m.pkg:
			own++
		case (&suite{pkg: o.Killer}).isSimulator():
			simulated++
		default:
			other++
		}
	}
	fmt.Printf("\n%d mutants survived:\n", len(survivors))
	slices.Sort(survivors)
	for _, s := range survivors {
		fmt.Println("  " + s)
	}
	if tried == 0 {
		return
	}
	fmt.Printf("\n%d of %d mutants tried, %d killed (%.1f %%): %d by tests of their package, %d by tests of others, %d by the simulator; %d of them by time\n",
		tried, len(mutants), own+other+simulated, 100*float64(own+other+simulated)/float64(tried), own, other, simulated, slow)
}
