package sim

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "run only this seed; with -v, print its trace")
	firstFlag = flag.Uint64("first", 1, "the first seed")
	seedsFlag = flag.Int("seeds", 300, "the number of seeds")
)

// mostFailures is the number of failing seeds after which no further seeds are run.
const mostFailures = 5

// TestSeeds runs a world for each seed, on all processors. With -seed, it runs one world, shrinks its script if it fails,
// and prints it.
func TestSeeds(t *testing.T) {
	if *seedFlag != 0 {
		runOneSeed(t, *seedFlag)
		return
	}
	began := time.Now()
	var next atomic.Uint64
	var failures atomic.Int32
	var virtual atomic.Int64
	var workers sync.WaitGroup
	next.Store(*firstFlag)
	end := *firstFlag + uint64(*seedsFlag)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := next.Add(1) - 1; seed < end && failures.Load() < mostFailures; seed = next.Add(1) - 1 {
				w := runScript(drawScript(seed), worldOptions{})
				virtual.Add(int64(w.now.Sub(epoch)))
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
}

func runOneSeed(t *testing.T, seed uint64) {
	s := drawScript(seed)
	w := runScript(s, worldOptions{})
	if w.violation == nil {
		if testing.Verbose() {
			fmt.Print(s.describe())
			runScript(s, worldOptions{log: os.Stdout})
		}
		return
	}
	small := shrink(s)
	if testing.Verbose() {
		runScript(small, worldOptions{log: os.Stdout})
	}
	fmt.Print(small.describe())
	t.Errorf("seed %d, with %d of %d actions: %v", seed, len(small.actions), len(s.actions), runScript(small, worldOptions{}).violation)
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
