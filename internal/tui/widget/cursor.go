package widget

import (
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// Rows is the set of operations that all tables have, regardless of the type of their rows.
type Rows interface {
	// Move moves the cursor n rows down; if n is negative, it moves up.
	Move(n int)
	// Page moves the cursor by n screens.
	Page(n int)
	// Home and End move the cursor to the first and the last row.
	Home()
	End()
	// Mark toggles the mark of the row under the cursor and moves the cursor to the next row.
	Mark()
	// Range starts a range of marked rows at the cursor, or ends it.
	Range()
	// MarkAll marks all rows.
	MarkAll()
	// Escape ends a range and clears all marks. It reports whether there were any.
	Escape() bool
	// SortBy sorts by a column; if the rows are already sorted by it, SortBy reverses the order.
	SortBy(column string)
	// SortMenu lets the user choose a column to sort by.
	SortMenu(*screenapi.Context) []screenapi.Effect
	// Chooser lets the user choose columns.
	Chooser(*screenapi.Context) []screenapi.Effect
	// Mouse handles a click or a turn of the wheel. open reports whether to open a row.
	Mouse(*screenapi.Context, screenapi.Mouse) (taken, open bool)
}

var _ Rows = (*Table[int])(nil)

// Move moves the cursor n rows down; if n is negative, it moves up.
func (t *Table[R]) Move(n int) {
	t.at += n
	t.moved = true
	t.clampCursor()
	t.markRangeRows()
}

// Page moves the cursor by n screens.
func (t *Table[R]) Page(n int) { t.Move(n * max(t.height-1, 1)) }

// Home moves the cursor to the first row.
func (t *Table[R]) Home() { t.Move(-len(t.rows)) }

// End moves the cursor to the last row.
func (t *Table[R]) End() { t.Move(len(t.rows)) }

// Mark toggles the mark of the row under the cursor and moves the cursor to the next row.
func (t *Table[R]) Mark() {
	if t.cursor == "" {
		return
	}
	if t.marks[t.cursor] {
		delete(t.marks, t.cursor)
	} else {
		t.markRowByID(t.cursor)
	}
	t.Move(1)
}

func (t *Table[R]) markRowByID(id string) {
	if t.marks == nil {
		t.marks = map[string]bool{}
	}
	t.marks[id] = true
}

// Range starts a range of marked rows at the cursor, or ends it.
func (t *Table[R]) Range() {
	if t.anchor != "" {
		t.anchor = ""
		return
	}
	t.anchor = t.cursor
	t.markRangeRows()
}

// markRangeRows marks the rows between the start of a range and the cursor.
func (t *Table[R]) markRangeRows() {
	if t.anchor == "" {
		return
	}
	for from := range t.rows {
		if t.ID(t.rows[from]) != t.anchor {
			continue
		}
		for i := min(from, t.at); i <= max(from, t.at); i++ {
			t.markRowByID(t.ID(t.rows[i]))
		}
		return
	}
	t.anchor = ""
}

// MarkAll marks all rows.
func (t *Table[R]) MarkAll() {
	for _, row := range t.rows {
		t.markRowByID(t.ID(row))
	}
}

// Escape ends a range and clears all marks. It reports whether there were any.
func (t *Table[R]) Escape() bool {
	hadMarks := t.anchor != "" || len(t.marks) > 0
	t.anchor, t.marks = "", nil
	return hadMarks
}

// MarkedRows returns the marked rows that are visible and exist, in order.
func (t *Table[R]) MarkedRows() []R {
	if len(t.marks) == 0 {
		return nil
	}
	var marked []R
	for _, row := range t.rows {
		if t.marks[t.ID(row)] && !t.IsLingering(row) {
			marked = append(marked, row)
		}
	}
	return marked
}

// Targets returns the marked rows, or the row under the cursor if none is marked.
func (t *Table[R]) Targets() []R {
	if marked := t.MarkedRows(); len(marked) > 0 {
		return marked
	}
	if row, ok := t.Selected(); ok && !t.IsLingering(row) {
		return []R{row}
	}
	return nil
}

// Mouse handles a click or a turn of the wheel.
func (t *Table[R]) Mouse(_ *screenapi.Context, m screenapi.Mouse) (taken, open bool) {
	x, y, inside := t.drawn.ContainsCell(m.X, m.Y)
	if !inside {
		return false, false
	}
	switch m.Kind {
	case screenapi.WheelDown:
		t.Move(3)
	case screenapi.WheelUp:
		t.Move(-3)
	case screenapi.Click, screenapi.DoubleClick:
		if y == 0 {
			t.sortByClicked(x)
			return true, false
		}
		if y > len(t.lines) || t.lines[y-1] < 0 || t.lines[y-1] >= len(t.rows) {
			return true, false
		}
		row := t.lines[y-1]
		again := row == t.at && m.Kind == screenapi.DoubleClick
		t.at, t.moved = row, true
		t.clampCursor()
		return true, again
	}
	return true, false
}

func (t *Table[R]) sortByClicked(x int) {
	for _, p := range t.heads {
		column := &t.Columns[p.index]
		if x < p.x || x >= p.x+p.w || column.Compare == nil {
			continue
		}
		t.SortBy(column.Key)
	}
}
