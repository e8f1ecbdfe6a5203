package widget

import (
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// DrawTitledBox draws a frame whose upper line contains a title on the left and a note on the right. It returns the
// inside, which leaves one blank column on each side.
func DrawTitledBox(c canvas.Canvas, t *theme.Theme, title, note string) canvas.Canvas {
	if c.W < 4 || c.H < 2 {
		return c.Sub(0, 0, 0, 0)
	}
	g, style := t.Glyphs, theme.Border
	c.Fill(1, 0, c.W-2, 1, g.Horizontal, style)
	c.Fill(1, c.H-1, c.W-2, 1, g.Horizontal, style)
	c.Fill(0, 1, 1, c.H-2, g.Vertical, style)
	c.Fill(c.W-1, 1, 1, c.H-2, g.Vertical, style)
	c.PutRune(0, 0, g.TopLeft, style)
	c.PutRune(c.W-1, 0, g.TopRight, style)
	c.PutRune(0, c.H-1, g.BottomLeft, style)
	c.PutRune(c.W-1, c.H-1, g.BottomRight, style)
	writeHeadline(c, 2, c.W-2, title, note)
	return c.Sub(2, 1, c.W-4, c.H-2)
}

// DrawTitledRule draws a line over the whole width with a title and a note, as in "── QUEUES (gpu) ── note ──". It is
// used if there is no space for a box.
func DrawTitledRule(c canvas.Canvas, y int, t *theme.Theme, title, note string) {
	c.Fill(0, y, c.W, 1, t.Glyphs.Horizontal, theme.Border)
	writeHeadline(c.Sub(0, y, c.W, 1), 2, c.W-1, title, note)
}

// writeHeadline writes the title and the note into an existing line. If they do not both fit, it omits the note.
func writeHeadline(c canvas.Canvas, from, to int, title, note string) {
	if title != "" {
		title = c.Shorten(" "+title, to-from-2) + " "
		from = c.Put(from, 0, title, theme.Title)
	}
	if room := to - from - 3; note != "" && canvas.Width(note) <= room {
		c.PutRight(to-1, 0, " "+note+" ", theme.Dim)
	}
}
