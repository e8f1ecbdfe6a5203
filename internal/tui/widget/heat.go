package widget

import (
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// HeatCell is a node in a heat map: its level of use, or a sign (D or X) for a special state.
type HeatCell struct {
	ID    string
	Level int
	// Sign, if nonzero, is drawn in Style instead of the level.
	Sign  rune
	Style canvas.Style
}

// HeatGroup is a group of nodes, for example a rack.
type HeatGroup struct {
	Name  string
	Cells []HeatCell
}

// Heat is a heat map with one cell per node. The groups are drawn side by side, in as many rows as necessary. All
// groups have the width of the widest one.
type Heat struct {
	Groups []HeatGroup
	// Cursor is the ID of the cell that is drawn between brackets, or "".
	Cursor string
	// Skip is the number of lines that are scrolled out of view.
	Skip int
	// Dense permits a compact layout if the groups do not fit: all cells in sequence, with marks between the groups
	// if possible.
	Dense bool

	placed []placedCell
	lines  int
}

type placedCell struct {
	id   string
	x, y int
}

// Draw draws the cells that fit and returns the number of cells that do not. The brackets around the cell under the
// cursor cover its neighbours.
func (h *Heat) Draw(c canvas.Canvas, t *theme.Theme) (hidden int) {
	hidden = h.drawCells(c, t)
	for _, p := range h.placed {
		if p.id == h.Cursor && p.id != "" {
			c.PutRune(p.x-1, p.y, '[', theme.Title)
			c.PutRune(p.x+1, p.y, ']', theme.Title)
		}
	}
	return hidden
}

// drawCells draws the cells that fit and returns the number of cells that do not.
func (h *Heat) drawCells(c canvas.Canvas, t *theme.Theme) (hidden int) {
	h.placed = h.placed[:0]
	if h.Dense && h.neededLines(c.W) > c.H {
		return h.drawDense(c, t)
	}
	name, left, cells, across := h.measureColumns(c.W)
	column, y, tall := 0, -h.Skip, 1
	for _, g := range h.Groups {
		x := column * (left + cells + 2 + 3)
		rows := max((len(g.Cells)+cells-1)/cells, 1)
		if name > 0 {
			c.Fit(x, y, name, g.Name, theme.Dim)
		}
		for row := range rows {
			part := g.Cells[min(row*cells, len(g.Cells)):min((row+1)*cells, len(g.Cells))]
			hidden += h.drawCellRow(c, x+left, y+row, part, t)
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

// measureColumns returns the width of the names, the first column of cells, the number of cells in a line of a group,
// and the number of groups that are drawn side by side.
func (h *Heat) measureColumns(w int) (name, left, cells, across int) {
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

// neededLines returns the number of lines that the groups occupy if they are drawn side by side.
func (h *Heat) neededLines(w int) int {
	_, _, cells, across := h.measureColumns(w)
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

// drawDense draws all cells in sequence.
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
			hidden += h.drawHeatCell(c, at%max(c.W, 1), at/max(c.W, 1)-h.Skip, cell, t)
			at++
		}
	}
	h.lines = (at + c.W - 1) / max(c.W, 1)
	return hidden
}

func (h *Heat) drawCellRow(c canvas.Canvas, x, y int, cells []HeatCell, t *theme.Theme) (hidden int) {
	c.PutRune(x, y, '[', theme.Border)
	for i, cell := range cells {
		hidden += h.drawHeatCell(c, x+1+i, y, cell, t)
	}
	c.PutRune(x+1+len(cells), y, ']', theme.Border)
	return hidden
}

// drawHeatCell draws one cell. It returns 1 if the cell is outside the canvas.
func (h *Heat) drawHeatCell(c canvas.Canvas, x, y int, cell HeatCell, t *theme.Theme) (hidden int) {
	r, style := t.Glyphs.Heat[min(max(cell.Level, 0), 4)], theme.Heat0+canvas.Style(min(max(cell.Level, 0), 4))
	if cell.Sign != 0 {
		r, style = cell.Sign, cell.Style
	}
	if cell.ID == h.Cursor && cell.ID != "" {
		style |= canvas.Bold
	}
	c.PutRune(x, y, r, style)
	h.placed = append(h.placed, placedCell{cell.ID, x, y})
	if y < 0 || y >= c.H || x >= c.W {
		return 1
	}
	return 0
}

// LineOfCell returns the line in which a cell was last drawn, including scrolled lines, or -1 if it was not drawn.
func (h *Heat) LineOfCell(id string) int {
	for _, p := range h.placed {
		if p.id == id {
			return p.y + h.Skip
		}
	}
	return -1
}

// TotalLines returns the number of lines that the whole map occupied when it was last drawn.
func (h *Heat) TotalLines() int { return h.lines }

// At returns the ID of the cell at a position on the last drawn canvas, or "".
func (h *Heat) At(x, y int) string {
	for _, p := range h.placed {
		if p.x == x && p.y == y {
			return p.id
		}
	}
	return ""
}

// AdjacentCell returns the ID of the cell next to the cursor in a direction or, at the edge, the ID of the cursor's own
// cell. If there is no cursor, it returns the first cell.
func (h *Heat) AdjacentCell(dx, dy int) string {
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
		isInLine := dx == 0 || (y == 0 && x*dx > 0)
		isInColumn := dy == 0 || y*dy > 0
		if !isInLine || !isInColumn {
			continue
		}
		if away := max(x, -x) + 1000*max(y, -y); away < cost {
			best, cost = p.id, away
		}
	}
	return best
}
