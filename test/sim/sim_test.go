package sim

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	seedFlag   = flag.Uint64("seed", 0, "run only this seed; with -v, print its trace")
	firstFlag  = flag.Uint64("first", 1, "the first seed")
	seedsFlag  = flag.Int("seeds", defaultSeeds, "the number of seeds")
	scriptFlag = flag.String("script", "", "run only the script in this file; with -v, print its trace")
)

// defaultSeeds is the number of seeds that a test runs by default. So many seeds cover all faults.
const defaultSeeds = 300

// mostFailures is the number of failing seeds after which no further seeds are run.
const mostFailures = 5

// isSet reports whether the command line contains a flag. The value of -seed does not show this, because 0 is a seed.
func isSet(name string) bool {
	found := false
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// TestSeeds runs a world for each seed, on all processors, and checks that every fault has had an effect. With -seed or
// -script, it runs one world, shrinks its script if it fails, and prints it.
func TestSeeds(t *testing.T) {
	switch {
	case *scriptFlag != "":
		runOneScript(t, readScript(t, *scriptFlag))
		return
	case isSet("seed"):
		runOneScript(t, drawScript(*seedFlag))
		return
	}
	began := time.Now()
	var next atomic.Uint64
	var failures atomic.Int32
	var virtual atomic.Int64
	var workers sync.WaitGroup
	var lock sync.Mutex
	covered := coverage{}
	next.Store(*firstFlag)
	end := *firstFlag + uint64(*seedsFlag)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := next.Add(1) - 1; seed < end && failures.Load() < mostFailures; seed = next.Add(1) - 1 {
				w := runScript(drawScript(seed), worldOptions{})
				virtual.Add(int64(w.now.Sub(epoch)))
				lock.Lock()
				covered.merge(w.coverage)
				lock.Unlock()
				if w.violation != nil {
					failures.Add(1)
					t.Errorf("seed %d: %v\nrepeat with: go test ./test/sim -seed %d -v", seed, w.violation, seed)
				}
			}
		})
	}
	workers.Wait()
	took := time.Since(began)
	t.Logf("%d seeds in %s: %.0f virtual hours, %.1f in a second", next.Load()-*firstFlag, took.Round(time.Second),
		time.Duration(virtual.Load()).Hours(), time.Duration(virtual.Load()).Hours()/took.Seconds())
	if t.Failed() {
		return
	}
	t.Logf("how often each fault affected each step:\n%s", covered)
	if *seedsFlag < defaultSeeds {
		return
	}
	for _, missing := range covered.findMissing() {
		t.Error(missing)
	}
}

// runOneScript runs a script. With -v, it prints the script and its trace. If it fails, it writes the trace to a file, and
// prints the shortened script and its trace.
func runOneScript(t *testing.T, s *script) {
	w := runScript(s, worldOptions{})
	if w.violation != nil {
		file := writeTrace(t, os.TempDir(), s)
		fmt.Printf("%v\nThe script and its trace, before it was shortened, are in the file %s\n", w.violation, file)
		s = shrink(s)
	}
	fmt.Print(s.describe())
	if testing.Verbose() {
		runScript(s, worldOptions{log: os.Stdout})
	}
	if w.violation != nil {
		fmt.Printf("The script, for a file in test/sim/testdata/scripts:\n%s", s.format())
		t.Errorf("seed %d, with %d of %d actions: %v", s.seed, len(s.actions), len(s.draws), runScript(s, worldOptions{}).violation)
	}
}

// writeTrace runs a script, and writes its story and its trace to a new file. It returns the name of the file.
func writeTrace(t *testing.T, dir string, s *script) string {
	t.Helper()
	var text strings.Builder
	text.WriteString(s.describe())
	runScript(s, worldOptions{log: &text})
	file := filepath.Join(dir, fmt.Sprintf("sim-seed-%d.trace", s.seed))
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func readScript(t *testing.T, file string) *script {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseScript(string(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return s
}

// TestScriptsThatOnceFailed runs the scripts that showed a bug which has been fixed. The comment in each file names it.
func TestScriptsThatOnceFailed(t *testing.T) {
	files, err := filepath.Glob("testdata/scripts/*.script")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		if w := runScript(readScript(t, file), worldOptions{}); w.violation != nil {
			t.Errorf("%s: %v\nrepeat with: go test ./test/sim -script %s -v", file, w.violation, file)
		}
	}
}

// TestAScriptIsReadAsItWasWritten verifies that a script that is written to a file and read again, and a script of which
// draws are omitted, contain the same actions.
func TestAScriptIsReadAsItWasWritten(t *testing.T) {
	for seed := uint64(1); seed <= 100; seed++ {
		drawn := drawScript(seed)
		fewer := drawn.omit(1, len(drawn.draws)/2)
		for _, s := range []*script{drawn, fewer} {
			again, err := parseScript(s.format())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s.describe(), again.describe()); diff != "" {
				t.Errorf("seed %d (-written +read):\n%s", seed, diff)
			}
		}
		if !strings.HasSuffix(drawn.describe(), lastLine(fewer.describe())) && len(fewer.actions) > 0 {
			t.Errorf("seed %d: the last action changed when others were omitted: %q", seed, lastLine(fewer.describe()))
		}
	}
}

// TestTheTraceOfTheWholeScriptIsWritten verifies that the file for a failing seed contains all its actions and its trace.
func TestTheTraceOfTheWholeScriptIsWritten(t *testing.T) {
	s := drawScript(0)
	text, err := os.ReadFile(writeTrace(t, t.TempDir(), s))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{s.describe(), "FAULTS STOP", "END "} {
		if !strings.Contains(string(text), part) {
			t.Errorf("the file does not contain %q", part)
		}
	}
}

// lastLine returns the last line of a story without the number of the action.
func lastLine(story string) string {
	lines := strings.Split(strings.TrimSpace(story), "\n")
	return lines[len(lines)-1][5:] + "\n"
}

// TestAWrongScriptIsRejected verifies that errors name the line.
func TestAWrongScriptIsRejected(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "no line: seed",
		"1s crash 5":                   "line 1",
		"seed x":                       "line 1",
		"# why\nseed 4\n1s crash":      "line 3",
		"seed 4\n1s unheard-of 3":      `no file registers actions of kind "unheard-of"`,
		"seed 4\n\nsoon crash 3":       "line 3",
		"seed 4\n1s crash minus-three": "line 2",
	} {
		if _, err := parseScript(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestASeedAlwaysHasTheSameTrace runs seeds twice and compares the traces.
func TestASeedAlwaysHasTheSameTrace(t *testing.T) {
	for seed := uint64(1); seed <= 10; seed++ {
		var first, second strings.Builder
		runScript(drawScript(seed), worldOptions{log: &first})
		runScript(drawScript(seed), worldOptions{log: &second})
		if first.String() != second.String() {
			t.Errorf("seed %d (-first +second):\n%s", seed, cmp.Diff(strings.Split(first.String(), "\n"), strings.Split(second.String(), "\n")))
		}
	}
}
