package widget

import (
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// HeatCell is a node in a heat map: how full it is, or a sign (D, X) that says more.
type HeatCell struct {
	ID    string
	Level int
	// Sign is drawn instead of the level when it is not 0, in Style.
	Sign  rune
	Style canvas.Style
}

// HeatGroup is nodes that belong together: a rack.
type HeatGroup struct {
	Name  string
	Cells []HeatCell
}

// Heat is groups of nodes, a cell each. Groups stand side by side, all as wide as
// the widest, and go on in the next line when they are wider than the screen.
type Heat struct {
	Groups []HeatGroup
	// Cursor is the ID of the cell that is drawn reversed; "" is none.
	Cursor string
	// Skip is how many lines are scrolled away.
	Skip int
	// Dense lets the cells close up when the groups do not fit: they stand behind each
	// other, first with a mark between groups, then without.
	Dense bool

	placed []placedCell
	lines  int
}

type placedCell struct {
	id   string
	x, y int
}

// Draw draws what fits and returns how many cells did not.
func (h *Heat) Draw(c canvas.Canvas, t *theme.Theme) (hidden int) {
	h.placed = h.placed[:0]
	if h.Dense && h.needed(c.W) > c.H {
		return h.drawDense(c, t)
	}
	name, left, cells, across := h.measure(c.W)
	column, y, tall := 0, -h.Skip, 1
	for _, g := range h.Groups {
		x := column * (left + cells + 2 + 3)
		rows := max((len(g.Cells)+cells-1)/cells, 1)
		if name > 0 {
			c.Fit(x, y, name, g.Name, theme.Dim)
		}
		for row := range rows {
			part := g.Cells[min(row*cells, len(g.Cells)):min((row+1)*cells, len(g.Cells))]
			hidden += h.row(c, x+left, y+row, part, t)
		}
		tall = max(tall, rows)
		if column++; column == across {
			column, y, tall = 0, y+tall, 1
		}
	}
	h.lines = y + h.Skip
	if column > 0 {
		h.lines += tall
	}
	return hidden
}

// measure is how wide names are, where cells begin, how many stand in a line of a group,
// and how many groups stand side by side.
func (h *Heat) measure(w int) (name, left, cells, across int) {
	for _, g := range h.Groups {
		name, cells = max(name, canvas.Width(g.Name)), max(cells, len(g.Cells))
	}
	name = min(name, max(w/4, 6))
	if name > 0 {
		left = name + 1
	}
	cells = min(cells, max(w-left-2, 1))
	return name, left, cells, max((w+3)/(left+cells+2+3), 1)
}

// needed is how many lines the groups take side by side.
func (h *Heat) needed(w int) int {
	_, _, cells, across := h.measure(w)
	lines := 0
	for from := 0; from < len(h.Groups); from += across {
		tall := 1
		for _, g := range h.Groups[from:min(from+across, len(h.Groups))] {
			tall = max(tall, (len(g.Cells)+cells-1)/max(cells, 1))
		}
		lines += tall
	}
	return lines
}

// drawDense draws the cells behind each other.
func (h *Heat) drawDense(c canvas.Canvas, t *theme.Theme) (hidden int) {
	all := 0
	for _, g := range h.Groups {
		all += len(g.Cells)
	}
	marks := all+len(h.Groups) <= c.W*c.H
	at := 0
	for i, g := range h.Groups {
		if marks && i > 0 {
			if at%max(c.W, 1) != 0 {
				c.PutRune(at%max(c.W, 1), at/max(c.W, 1)-h.Skip, t.Glyphs.Vertical, theme.Border)
			}
			at++
		}
		for _, cell := range g.Cells {
			hidden += h.cell(c, at%max(c.W, 1), at/max(c.W, 1)-h.Skip, cell, t)
			at++
		}
	}
	h.lines = (at + c.W - 1) / max(c.W, 1)
	return hidden
}

func (h *Heat) row(c canvas.Canvas, x, y int, cells []HeatCell, t *theme.Theme) (hidden int) {
	c.PutRune(x, y, '[', theme.Border)
	for i, cell := range cells {
		hidden += h.cell(c, x+1+i, y, cell, t)
	}
	c.PutRune(x+1+len(cells), y, ']', theme.Border)
	return hidden
}

// cell draws one cell and returns 1 when it is outside of the canvas.
func (h *Heat) cell(c canvas.Canvas, x, y int, cell HeatCell, t *theme.Theme) (hidden int) {
	r, style := t.Glyphs.Heat[min(max(cell.Level, 0), 4)], theme.Heat0+canvas.Style(min(max(cell.Level, 0), 4))
	if cell.Sign != 0 {
		r, style = cell.Sign, cell.Style
	}
	if cell.ID == h.Cursor && cell.ID != "" {
		style |= canvas.Reverse
	}
	c.PutRune(x, y, r, style)
	h.placed = append(h.placed, placedCell{cell.ID, x, y})
	if y < 0 || y >= c.H || x >= c.W {
		return 1
	}
	return 0
}

// Line is the line of the canvas in which a cell stood when it was drawn last, before
// anything was scrolled away; -1 when it is not there.
func (h *Heat) Line(id string) int {
	for _, p := range h.placed {
		if p.id == id {
			return p.y + h.Skip
		}
	}
	return -1
}

// Lines is how many lines the whole map took when it was drawn last.
func (h *Heat) Lines() int { return h.lines }

// At is the ID of the cell at a place of the canvas that was drawn last; "" is none.
func (h *Heat) At(x, y int) string {
	for _, p := range h.placed {
		if p.x == x && p.y == y {
			return p.id
		}
	}
	return ""
}

// Step is the ID of the cell next to the cursor in a direction, or the cursor's own
// when there is none; without a cursor it is the first cell.
func (h *Heat) Step(dx, dy int) string {
	var from *placedCell
	for i := range h.placed {
		if h.placed[i].id == h.Cursor {
			from = &h.placed[i]
		}
	}
	if from == nil {
		if len(h.placed) == 0 {
			return ""
		}
		return h.placed[0].id
	}
	best, cost := h.Cursor, 1<<30
	for _, p := range h.placed {
		x, y := p.x-from.x, p.y-from.y
		if x*dx < 0 || y*dy < 0 || (dx != 0 && (x == 0 || y != 0)) || (dy != 0 && y == 0) {
			continue
		}
		if away := max(x, -x) + 1000*max(y, -y); away < cost {
			best, cost = p.id, away
		}
	}
	return best
}
