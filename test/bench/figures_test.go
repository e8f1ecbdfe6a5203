package bench

import (
	"slices"
	"testing"

	"github.com/vc-batch/vc/test/bench/figures"
)

// take tells a figure, the median of values, and holds it to its line's floor.
func take(t *testing.T, name string, nodes int, values ...float64) {
	t.Helper()
	nodes = (nodes + 50) / 100 * 100 // some may not be ready yet when they are counted
	line := figures.LineOf(name)
	slices.Sort(values)
	f := figures.Figure{Name: name, Nodes: nodes, Unit: line.Unit, Value: values[len(values)/2], Lowest: values[0], Highest: values[len(values)-1]}
	t.Log(f)
	if line.Missed(f.Value) {
		t.Errorf("%s, %d nodes: %.3g %s, the floor is %g", name, nodes, f.Value, line.Unit, line.Floor)
	}
}
