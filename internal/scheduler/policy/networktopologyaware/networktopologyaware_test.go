package networktopologyaware

import (
	"slices"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/config"
)

// TestFadingIsBounded sets fadings whose powers overflow: points would be NaN without a bound.
func TestFadingIsBounded(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]float64{0: 0, 0.5: 0.5, 1: 1, 10: 10, -1: usualFading, 10.5: usualFading, 1e300: usualFading} {
		var warnings []string
		p := New(config.Plugin{Arguments: config.Arguments{fading: value}}, func(text string) { warnings = append(warnings, text) })
		told := slices.ContainsFunc(warnings, func(text string) bool { return strings.Contains(text, "must be from 0 to 10") })
		if p.fading != want || told != (value != want) || len(warnings) > 1 {
			t.Errorf("%v: %v is used, want %v; warnings %q", value, p.fading, want, warnings)
		}
	}
}

// TestHyperNodesArePackedByTheResourcesThatTheyHave has a pod that also requests a resource that no node has, because an
// extender manages it, and one whose weight is 0.
func TestHyperNodesArePackedByTheResourcesThatTheyHave(t *testing.T) {
	t.Parallel()
	const cpu, memory, managed = 0, 1, 2
	f := &filling{resources: []float64{cpu: 1, memory: 0, managed: 1}, rows: []row{{alloc: []float64{cpu: 10, memory: 10, managed: 0}, used: []float64{cpu: 4, memory: 9, managed: 0}}}}
	request := resource.Request{{Index: cpu, Value: 1}, {Index: memory, Value: 1}, {Index: managed, Value: 5}}
	if got := f.packingAfterRequest(&model.Domain{}, request); got != 0.5 {
		t.Errorf("packed to %v, want 0.5, as half of the CPU is used", got)
	}
	if got := f.packingAfterRequest(&model.Domain{}, resource.Request{{Index: cpu, Value: 7}}); got != 0 {
		t.Errorf("packed to %v by a request that does not fit, want 0", got)
	}
}
