package networktopologyaware

import (
	"slices"
	"strings"
	"testing"

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
