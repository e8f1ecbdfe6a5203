package sim

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "run only this seed and print its trace")
	seedsFlag = flag.Int("seeds", 300, "number of seeds to run")
)

func TestSeeds(t *testing.T) {
	if *seedFlag != 0 {
		s := drawScript(*seedFlag)
		fmt.Print(s.describe())
		w := runScript(s, worldOptions{log: os.Stdout})
		if w.violation != nil {
			t.Fatal(w.violation)
		}
		return
	}
	failed := 0
	for seed := uint64(1); seed <= uint64(*seedsFlag) && failed < 10; seed++ {
		w := runScript(drawScript(seed), worldOptions{})
		if w.violation != nil {
			failed++
			t.Errorf("seed %d: %v", seed, w.violation)
		}
	}
}

// TestASeedAlwaysHasTheSameTrace runs seeds twice.
func TestASeedAlwaysHasTheSameTrace(t *testing.T) {
	for seed := uint64(1); seed <= 10; seed++ {
		var first, second strings.Builder
		runScript(drawScript(seed), worldOptions{log: &first})
		runScript(drawScript(seed), worldOptions{log: &second})
		if first.String() != second.String() {
			x, y := strings.Split(first.String(), "\n"), strings.Split(second.String(), "\n")
			for i := range min(len(x), len(y)) {
				if x[i] != y[i] {
					t.Errorf("seed %d: line %d differs:\n%s\n%s", seed, i, x[i], y[i])
					break
				}
			}
		}
	}
}
