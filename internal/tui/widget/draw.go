package widget

import (
	"fmt"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// seenRow holds the last drawn text of a row and the time when each cell last changed.
type seenRow struct {
	texts   []string
	changed []time.Time
}

// Draw draws the header and as many rows around the cursor as fit. The last line shows the number of rows below. If
// there are no rows, Draw shows empty.
func (t *Table[R]) Draw(ctx *screenapi.Context, c canvas.Canvas, empty string) {
	t.dropExpired(ctx.Now)
	t.drawn, t.width = c, ctx.W
	t.frames++
	t.heads = t.layOutColumns(ctx, c.W)
	t.drawTableHead(ctx, c)
	t.height = max(c.H-1, 0)
	cut := t.needsMoreThan(t.height)
	if cut {
		t.height = max(c.H-2, 0)
	}
	t.clampCursor()
	if len(t.rows) == 0 {
		c.Fit(2, 1, c.W-2, empty, theme.Dim)
		return
	}
	seen := make(map[string]*seenRow, t.height)
	t.scrollToCursor(t.height)
	t.drawTableBody(ctx, c, t.height, seen)
	t.seen = seen
	if more := len(t.rows) - t.top - t.drawnRows; cut && c.H > 1 {
		t.drawTableFoot(ctx, c, more)
	}
}

// Text returns all rows and their header as text with the specified width, without the cursor and marks.
func (t *Table[R]) Text(ctx *screenapi.Context, width int, empty string) string {
	all := *t
	all.marks, all.seen, all.still, all.top = nil, nil, true, 0
	wide := *ctx
	wide.W = width
	lines := len(all.rows) + 2
	if all.grouping.of != nil {
		lines += len(all.rows) // each row may have a group heading
	}
	c := canvas.New(width, lines, ctx.Theme.Glyphs.ASCII)
	all.Draw(&wide, c, empty)
	return strings.TrimRight(c.Text(), "\n") + "\n"
}

func (t *Table[R]) drawTableHead(ctx *screenapi.Context, c canvas.Canvas) {
	for _, p := range t.heads {
		column := &t.Columns[p.index]
		style, width := theme.Head, p.w
		if arrow := t.sortArrow(ctx, column.Key); arrow != 0 {
			style |= canvas.Underline
			width--
			at := p.x + width
			if !column.Right {
				at = p.x + min(canvas.Width(column.Title), width)
			}
			c.PutRune(at, 0, arrow, style)
		}
		if column.Right {
			c.FitRight(p.x, 0, width, column.Title, style)
		} else {
			c.Fit(p.x, 0, min(width, canvas.Width(column.Title)), column.Title, style)
		}
	}
}

// sortArrow returns the direction in which the rows are sorted by a column, or 0 if they are not sorted by it.
func (t *Table[R]) sortArrow(ctx *screenapi.Context, column string) rune {
	for _, k := range t.order {
		switch {
		case k.column != column:
		case k.descending:
			return ctx.Theme.Glyphs.Descending
		default:
			return ctx.Theme.Glyphs.Ascending
		}
	}
	return 0
}

func (t *Table[R]) drawTableFoot(ctx *screenapi.Context, c canvas.Canvas, more int) {
	text := fmt.Sprintf("%c %s more below (pgdn)", ctx.Theme.Glyphs.More, FormatCount(more))
	if more <= 0 {
		text = fmt.Sprintf("%c end of %s", ctx.Theme.Glyphs.More, FormatCount(len(t.rows)))
	}
	c.Fit(2, c.H-1, c.W-2, text, theme.Dim)
}

func (t *Table[R]) drawTableRow(ctx *screenapi.Context, c canvas.Canvas, y int, row R, cursor bool, seen map[string]*seenRow) {
	id := t.ID(row)
	before := t.seen[id]
	now := &seenRow{texts: make([]string, len(t.Columns)), changed: make([]time.Time, len(t.Columns))}
	seen[id] = now
	_, gone := t.gone[id]
	faint := gone || (t.Dim != nil && t.Dim(row))
	for _, p := range t.heads {
		column := &t.Columns[p.index]
		if column.Draw != nil {
			column.Draw(ctx, row, c.Sub(p.x, y, p.w, 1))
			continue
		}
		text, style := column.Cell(ctx, row)
		now.texts[p.index] = text
		if t.changedCell(ctx.Now, before, now, p.index, column.Ticks) {
			style |= canvas.Bold
		}
		if column.Right {
			FitNumber(c, p.x, y, p.w, text, style)
		} else {
			c.Fit(p.x, y, p.w, text, style)
		}
	}
	if faint {
		c.Restyle(0, y, c.W, 1, func(canvas.Style) canvas.Style { return theme.Dim | canvas.Faint })
	}
	if t.marks[id] {
		c.PutRune(0, y, ctx.Theme.Glyphs.Mark, theme.Mark)
	}
	if cursor && !t.still {
		x := 0
		if t.marks[id] {
			x = 1
		}
		c.PutRune(x, y, ctx.Theme.Glyphs.Select, theme.Key)
		c.SetCursor(x, y)
		c.Restyle(0, y, c.W, 1, func(s canvas.Style) canvas.Style { return s | canvas.Selected })
	}
}

// changedCell records a change of a cell. It reports whether the cell has changed within the last two seconds.
func (t *Table[R]) changedCell(at time.Time, before, now *seenRow, index int, ticks bool) bool {
	if before == nil || ticks || index >= len(before.texts) {
		return false
	}
	now.changed[index] = before.changed[index]
	if before.texts[index] != now.texts[index] && before.texts[index] != "" {
		now.changed[index] = at
	}
	return !now.changed[index].IsZero() && at.Sub(now.changed[index]) < linger
}

// FormatCount formats a number with commas, for example 1,948.
func FormatCount(n int) string {
	if n < 0 {
		return "-" + FormatCount(-n)
	}
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", FormatCount(n/1000), n%1000)
}
