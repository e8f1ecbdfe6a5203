package widget

import (
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/theme"
)

func TestAChartFillsItsWidthAndHeight(t *testing.T) {
	t.Parallel()
	look, err := theme.New("dark", theme.NoColor, false)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		values []float64
		full   float64
		want   string
	}{
		"half, full and more":     {[]float64{4, 8, 16}, 8, "  ████\n██████\n"},
		"a small amount is shown": {[]float64{0, 0.001}, 8, "\n   ▁▁▁\n"},
		"a part of a line":        {[]float64{6}, 8, "▄▄▄▄▄▄\n██████\n"},
		"no values":               {nil, 8, "\n\n"},
		"nothing to compare with": {[]float64{1}, 0, "\n\n"},
		"negative values":         {[]float64{-3, 8}, 8, "   ███\n   ███\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := canvas.New(6, 2, false)
			DrawChart(c, tc.values, tc.full, theme.Running, look)
			var got strings.Builder
			for line := range strings.Lines(c.Text()) {
				got.WriteString(strings.TrimRight(line, " \n") + "\n")
			}
			if got.String() != tc.want {
				t.Errorf("%q, want %q", got.String(), tc.want)
			}
		})
	}
}
