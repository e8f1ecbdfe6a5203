package widget

import (
	"math"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// DrawChart draws values over time as columns across the whole canvas, with the oldest on the left. A value of full has
// the full height; larger ones are cut off. Each value takes the same share of the width.
func DrawChart(c canvas.Canvas, values []float64, full float64, style canvas.Style, t *theme.Theme) {
	ramp := t.Glyphs.Spark
	for x := range c.W {
		if len(values) == 0 || full <= 0 {
			return
		}
		value := values[x*len(values)/c.W]
		eighths := int(math.Round(min(max(value, 0)/full, 1) * float64(c.H*len(ramp))))
		if value > 0 {
			eighths = max(eighths, 1) // a small amount is not the same as none
		}
		for y := c.H - 1; y >= 0 && eighths > 0; y-- {
			c.PutRune(x, y, ramp[min(eighths, len(ramp))-1], style)
			eighths -= len(ramp)
		}
	}
}
