package widget

import (
	"cmp"
	"math"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// Bar is a bar that can have marks.
type Bar struct {
	// Used is drawn with the full glyph, followed by Admitted with the partial glyph. The full width represents
	// Scale.
	Used, Admitted, Scale float64
	// Over is the amount above which use is drawn as borrowed; 0 means that it never is.
	Over float64
	// Marks are drawn over the bar if they lie within the scale.
	Marks []BarMark
	// Until is the end of the bar; the part beyond it is left blank. If it is 0, the bar ends at Scale.
	Until float64
	// Style is the style of the used part; it defaults to Running.
	Style canvas.Style
}

// BarMark is a sign at a position on a bar.
type BarMark struct {
	At   float64
	Sign rune
}

// Draw draws the bar into w cells at x, y.
func (b Bar) Draw(c canvas.Canvas, x, y, w int, t *theme.Theme) {
	if w <= 0 || t.Glyphs.Full == 0 {
		return
	}
	style := b.Style
	style = cmp.Or(style, theme.Running)
	place := func(value float64) int {
		if b.Scale <= 0 || value <= 0 {
			return 0
		}
		return int(math.Round(min(value/b.Scale, 1) * float64(w)))
	}
	used, admitted, end := place(b.Used), place(b.Used+b.Admitted), w
	if b.Used > 0 && used == 0 {
		used = 1
	}
	admitted = max(admitted, used)
	if b.Until > 0 {
		end = max(place(b.Until), admitted)
	}
	for i := range end {
		switch {
		case i < used && b.Over > 0 && i >= place(b.Over):
			c.PutRune(x+i, y, t.Glyphs.Full, theme.Borrowed)
		case i < used:
			c.PutRune(x+i, y, t.Glyphs.Full, style)
		case i < admitted:
			c.PutRune(x+i, y, t.Glyphs.Part, theme.Pending)
		default:
			c.PutRune(x+i, y, t.Glyphs.None, theme.Dim)
		}
	}
	for _, mark := range b.Marks {
		if mark.At > 0 && mark.At <= b.Scale {
			c.PutRune(x+min(place(mark.At), w-1), y, mark.Sign, theme.Key)
		}
	}
}

// DrawSparkline draws the last values of a history, one per cell, with the newest on the right. The largest value has
// the full height. Spark returns the column after the last cell.
func DrawSparkline(c canvas.Canvas, x, y, w int, values []float64, style canvas.Style, t *theme.Theme) int {
	if len(values) > w {
		values = values[len(values)-max(w, 0):]
	}
	most := 0.0
	for _, value := range values {
		most = max(most, value)
	}
	ramp := t.Glyphs.Spark
	for _, value := range values {
		level := 0
		if most > 0 {
			level = int(math.Round(max(value, 0) / most * float64(len(ramp)-1)))
		}
		x = c.PutRune(x, y, ramp[level], style)
	}
	return x
}

// HeatLevel returns the level of use: 0 (none), 1 (below a quarter), 2 (below a half), 3 (below full) or 4 (full). If
// whole is zero, the level is 0.
func HeatLevel(used, whole float64) int {
	switch share := used / whole; {
	case whole <= 0 || used <= 0:
		return 0
	case share < 0.25:
		return 1
	case share < 0.5:
		return 2
	case share < 1:
		return 3
	}
	return 4
}
