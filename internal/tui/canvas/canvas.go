package canvas

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Style is the style of a cell: a role in the low byte and attributes above it. The theme defines the colour of each
// role.
type Style uint16

// Attributes of a style.
const (
	Bold Style = 1 << (8 + iota)
	Faint
	Reverse
	Underline
	// Selected marks the row under the cursor: the theme gives it a background and keeps the foreground.
	Selected
)

// Role returns the style without its attributes.
func (s Style) Role() Style { return s & 0xff }

// Has reports whether the style has all of the attributes.
func (s Style) Has(attributes Style) bool { return s&attributes == attributes }

// Cell is one cell of the screen. Rune 0 is a blank, and Rest marks the second half of the wide rune to its left.
type Cell struct {
	Rune  rune
	Style Style
}

// Rest marks the second cell of a wide rune.
const Rest rune = -1

// Canvas is a rectangular part of a grid. Positions are relative to its upper left corner.
type Canvas struct {
	// W and H are the size in cells.
	W, H int

	grid   *grid
	x0, y0 int
}

type grid struct {
	w, h  int
	cells []Cell
	ascii bool
	// cursor is the cell of the terminal's cursor, if hasCursor is true.
	cursor    struct{ x, y int }
	hasCursor bool
}

// New returns an empty canvas. Negative sizes count as zero. If ascii is set, every rune outside ASCII is drawn as
// "?".
func New(w, h int, ascii bool) Canvas {
	w, h = max(w, 0), max(h, 0)
	return Canvas{W: w, H: h, grid: &grid{w: w, h: h, cells: make([]Cell, w*h), ascii: ascii}}
}

// ReuseCells returns an empty canvas like New. If the size is the same, it reuses the cells of this canvas, so this
// canvas must not be used afterwards.
func (c Canvas) ReuseCells(w, h int, ascii bool) Canvas {
	hasSize := c.grid != nil && c.grid.w == w && c.grid.h == h
	if !hasSize || c.grid.ascii != ascii {
		return New(w, h, ascii)
	}
	clear(c.grid.cells)
	c.grid.hasCursor = false
	return Canvas{W: w, H: h, grid: c.grid}
}

// Sub returns the part of the canvas whose upper left corner is at x, y, clipped to the canvas.
func (c Canvas) Sub(x, y, w, h int) Canvas {
	left, top := min(max(x, 0), c.W), min(max(y, 0), c.H)
	right, bottom := min(max(x+w, left), c.W), min(max(y+h, top), c.H)
	return Canvas{W: right - left, H: bottom - top, grid: c.grid, x0: c.x0 + left, y0: c.y0 + top}
}

// Cut splits the canvas into the upper h lines and the rest.
func (c Canvas) Cut(h int) (upper, rest Canvas) {
	h = min(max(h, 0), c.H)
	return c.Sub(0, 0, c.W, h), c.Sub(0, h, c.W, c.H-h)
}

// ContainsCell reports whether a cell of the grid is in this canvas, and returns the cell's position in the canvas.
func (c Canvas) ContainsCell(gridX, gridY int) (x, y int, ok bool) {
	x, y = gridX-c.x0, gridY-c.y0
	return x, y, c.containsPoint(x, y)
}

func (c Canvas) containsPoint(x, y int) bool {
	inColumn := 0 <= x && x < c.W
	return inColumn && 0 <= y && y < c.H
}

// SetCursor places the terminal's cursor on a cell, unless the cell is outside of the canvas. The last call counts.
func (c Canvas) SetCursor(x, y int) {
	if c.containsPoint(x, y) {
		c.grid.cursor.x, c.grid.cursor.y, c.grid.hasCursor = c.x0+x, c.y0+y, true
	}
}

// Cursor returns the cell of the terminal's cursor in the grid; ok is false if none was set.
func (c Canvas) Cursor() (gridX, gridY int, ok bool) {
	if c.grid == nil {
		return 0, 0, false
	}
	return c.grid.cursor.x, c.grid.cursor.y, c.grid.hasCursor
}

// At returns the cell at x, y. Outside the canvas, it returns a blank cell.
func (c Canvas) At(x, y int) Cell {
	if !c.containsPoint(x, y) {
		return Cell{}
	}
	return c.grid.cells[(c.y0+y)*c.grid.w+c.x0+x]
}

// Put draws text to the right, starting at x, y. It returns the column after the text, even if part of the text was
// clipped.
func (c Canvas) Put(x, y int, text string, style Style) int {
	for _, r := range text {
		x = c.PutRune(x, y, r, style)
	}
	return x
}

// PutRune draws one rune and returns the column after it.
func (c Canvas) PutRune(x, y int, r rune, style Style) int {
	width := RuneWidth(r)
	if width == 0 {
		return x
	}
	if c.grid.ascii && r > '~' {
		c.setCellRune(x, y, '?', style)
		if width == 2 {
			c.setCellRune(x+1, y, '?', style)
		}
		return x + width
	}
	if width == 2 {
		if x < 0 || x+1 >= c.W {
			c.setCellRune(x, y, ' ', style)
			c.setCellRune(x+1, y, ' ', style)
			return x + 2
		}
		c.setCellRune(x, y, r, style)
		c.setCellRune(x+1, y, Rest, style)
		return x + 2
	}
	c.setCellRune(x, y, r, style)
	return x + 1
}

// setCellRune writes a cell. If it overwrites half of a wide rune, the other half becomes a blank.
func (c Canvas) setCellRune(x, y int, r rune, style Style) {
	if !c.containsPoint(x, y) {
		return
	}
	row := c.grid.cells[(c.y0+y)*c.grid.w : (c.y0+y+1)*c.grid.w]
	at := c.x0 + x
	if row[at].Rune == Rest && r != Rest && at > 0 {
		row[at-1].Rune = ' '
	}
	if at+1 < len(row) && row[at+1].Rune == Rest && row[at].Rune != Rest {
		row[at+1].Rune = ' '
	}
	row[at] = Cell{r, style}
}

// PutRight draws text that ends before column x, and returns the first column of the text.
func (c Canvas) PutRight(x, y int, text string, style Style) int {
	from := x - Width(text)
	c.Put(from, y, text, style)
	return from
}

// Fit draws text in the w cells from x. Text that is too long is shortened as in Shorten.
func (c Canvas) Fit(x, y, w int, text string, style Style) {
	c.Sub(x, y, w, 1).Put(0, 0, c.Shorten(text, min(w, c.W-x)), style)
}

// FitRight is Fit with the text aligned to the right edge of the w cells.
func (c Canvas) FitRight(x, y, w int, text string, style Style) {
	text = c.Shorten(text, w)
	c.Put(x+w-Width(text), y, text, style)
}

// Shorten shortens text to w cells and marks the omission with "…", or "~" in ASCII. It never cuts a number, because
// the remaining digits would be a different number.
func (c Canvas) Shorten(text string, w int) string {
	if w <= 0 {
		return ""
	}
	if Width(text) <= w {
		return text
	}
	mark := "…"
	if c.grid.ascii {
		mark = "~"
	}
	used := 0
	for at, r := range text {
		width := RuneWidth(r)
		if used+width > w-1 {
			part := text[:wholeNumbers(text, at)]
			short := strings.TrimRight(part, " ,")
			if short != part && strings.ContainsAny(short[max(len(short)-1, 0):], "0123456789") {
				short += " " // shows that the number is complete
			}
			return short + mark
		}
		used += width
	}
	return text
}

// wholeNumbers returns the position at which to cut a text that must be cut at or before the position at. The result
// never ends with part of a number, such as 14 of 1429, 3 of 3.25, or 12 of 12:30:05. An address, which has more than
// one dot, may be cut after a dot. Digits that follow letters or a dash belong to a name and may be cut anywhere.
func wholeNumbers(text string, at int) int {
	const parts = "0123456789.,:"
	from := len(strings.TrimRight(text[:at], parts))
	to := at + len(text[at:]) - len(strings.TrimLeft(text[at:], parts))
	begun := text[from:at]
	switch {
	case begun == "" || (strings.TrimRight(begun, ".,:") != begun && to == at):
		return at // at is outside of any number, or just past the punctuation that ends one
	case from > 0 && !strings.ContainsRune(" (/=<>+~", rune(text[from-1])):
		return at
	case strings.Count(strings.TrimRight(text[from:to], ".,:"), ".") > 1:
		return from + strings.LastIndexAny(begun, ".,") + 1
	}
	return from
}

// Fill fills a rectangle with a rune of width one.
func (c Canvas) Fill(x, y, w, h int, r rune, style Style) {
	part := c.Sub(x, y, w, h)
	for row := range part.H {
		for column := range part.W {
			part.PutRune(column, row, r, style)
		}
	}
}

// Restyle changes the style of the cells of a rectangle and keeps their text.
func (c Canvas) Restyle(x, y, w, h int, change func(Style) Style) {
	part := c.Sub(x, y, w, h)
	for row := range part.H {
		from := (part.y0+row)*c.grid.w + part.x0
		cells := c.grid.cells[from : from+part.W]
		for i := range cells {
			cells[i].Style = change(cells[i].Style)
		}
	}
}

// Clear fills a rectangle with blanks.
func (c Canvas) Clear(x, y, w, h int) { c.Fill(x, y, w, h, ' ', 0) }

// RuneWidth returns the number of cells that a rune occupies: 0, 1 or 2.
func RuneWidth(r rune) int {
	switch {
	case r < ' ' || r == 0x7f:
		return 0
	case r < 0x7f, r >= 0x2500 && r < 0x25a0:
		return 1
	case r >= 0x80 && r < 0xa0:
		return 0
	}
	return displaywidth.Rune(r)
}

// Width returns the number of cells that Put needs for a text.
func Width(text string) int {
	width := 0
	for _, r := range text {
		width += RuneWidth(r)
	}
	return width
}
