package widget

import (
	"maps"
	"slices"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// grouping describes how rows are grouped under headings.
type grouping[R any] struct {
	of   func(R) string
	head func(name string, rows []R) string
	// heads caches the headings until the rows change.
	heads map[string]string
}

// GroupRowsBy groups the rows for which of returns the same name under a heading returned by head. The groups are
// sorted by name. If of is nil, rows are not grouped.
func (t *Table[R]) GroupRowsBy(of func(R) string, head func(name string, rows []R) string) {
	t.grouping = grouping[R]{of: of, head: head}
	t.orderSerial++
	t.arrangeRows()
}

// sortByGroup sorts the rows by group and preserves their order within a group.
func (t *Table[R]) sortByGroup() {
	if t.grouping.of == nil {
		return
	}
	groups := map[string][]R{}
	for _, row := range t.rows {
		name := t.grouping.of(row)
		groups[name] = append(groups[name], row)
	}
	t.rows = t.rows[:0]
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		t.rows = append(t.rows, groups[name]...)
	}
}

// groupHeading returns the heading above a row. ok is true for the first row of each group and for the first visible
// row.
func (t *Table[R]) groupHeading(at int) (text string, ok bool) {
	of := t.grouping.of
	if of == nil || at >= len(t.rows) {
		return "", false
	}
	name := of(t.rows[at])
	if at > t.top && of(t.rows[at-1]) == name {
		return "", false
	}
	if text, known := t.grouping.heads[name]; known {
		return text, true
	}
	from, to := at, at
	for from > 0 && of(t.rows[from-1]) == name {
		from--
	}
	for to < len(t.rows) && of(t.rows[to]) == name {
		to++
	}
	if t.grouping.heads == nil {
		t.grouping.heads = map[string]string{}
	}
	text = t.grouping.head(name, t.rows[from:to])
	t.grouping.heads[name] = text
	return text, true
}

// scrollToCursor changes the first visible row so that the cursor's row is visible. It takes into account the headings
// in between.
func (t *Table[R]) scrollToCursor(lines int) {
	if t.grouping.of == nil {
		return
	}
	for t.top < t.at && t.linesToRow(t.at) > lines {
		t.top++
	}
}

// linesToRow returns the number of lines from the first visible row to the row with index at.
func (t *Table[R]) linesToRow(at int) int {
	lines := 0
	for i := t.top; i <= at; i++ {
		if _, ok := t.groupHeading(i); ok {
			lines++
		}
		lines++
	}
	return lines
}

// drawTableBody draws the rows with their headings and records which row is drawn in which line.
func (t *Table[R]) drawTableBody(ctx *screenapi.Context, c canvas.Canvas, lines int, seen map[string]*seenRow) {
	t.lines = t.lines[:0]
	at := t.top
	for len(t.lines) < lines && at < len(t.rows) {
		if text, ok := t.groupHeading(at); ok {
			c.Fit(1, len(t.lines)+1, c.W-1, text, theme.Head)
			t.lines = append(t.lines, -1)
			if len(t.lines) == lines {
				break
			}
		}
		t.drawTableRow(ctx, c, len(t.lines)+1, t.rows[at], at == t.at, seen)
		t.lines = append(t.lines, at)
		at++
	}
	t.drawnRows = at - t.top
}

// needsMoreThan reports whether the rows and headings need more than the specified number of lines.
func (t *Table[R]) needsMoreThan(lines int) bool {
	if t.grouping.of == nil || len(t.rows) > lines {
		return len(t.rows) > lines
	}
	needed := len(t.rows)
	for i, row := range t.rows {
		if i == 0 || t.grouping.of(t.rows[i-1]) != t.grouping.of(row) {
			needed++
		}
	}
	return needed > lines
}
