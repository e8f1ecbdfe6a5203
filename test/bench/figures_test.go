package bench

import (
	"slices"
	"testing"

	"github.com/vc-batch/vc/test/bench/figures"
)

// take prints a figure, the median of values, and compares it with the floor of its line.
func take(t *testing.T, name string, nodes int, values ...float64) {
	t.Helper()
	nodes = (nodes + 50) / 100 * 100 // some nodes may not be ready when they are counted
	line := figures.LineOf(name)
	slices.Sort(values)
	f := figures.Figure{Name: name, Nodes: nodes, Unit: line.Unit, Value: median(values), Lowest: values[0], Highest: values[len(values)-1]}
	t.Log(f)
	if fails, text := figures.Verdict(f); fails {
		t.Errorf("%s, %d nodes: %.3g %s (floor %g): %s", name, nodes, f.Value, line.Unit, line.Floor, text)
	} else if text != "" {
		t.Logf("%s: %s", name, text)
	}
}

// median returns the median of sorted values. For an even number of values it is the mean of the two in the middle.
func median(values []float64) float64 {
	half := len(values) / 2
	if len(values)%2 == 1 {
		return values[half]
	}
	return (values[half-1] + values[half]) / 2
}

func TestTheMedianOfTwoRoundsIsNeitherOfThem(t *testing.T) {
	for want, values := range map[float64][]float64{3: {3}, 2: {1, 3}, 5: {1, 5, 30}, 4: {1, 3, 5, 30}} {
		if got := median(values); got != want {
			t.Errorf("median of %v: %v, want %v", values, got, want)
		}
	}
}
