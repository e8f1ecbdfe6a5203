package widget

import (
	"maps"
	"slices"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screen"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// grouping puts rows together under lines of their own.
type grouping[R any] struct {
	of   func(R) string
	head func(name string, rows []R) string
	// heads are the lines that were made since the rows changed.
	heads map[string]string
}

// Group puts the rows of one name together, under a line that head makes of all of
// them; groups stand by name. nil groups nothing.
func (t *Table[R]) Group(of func(R) string, head func(name string, rows []R) string) {
	t.grouping = grouping[R]{of: of, head: head}
	t.arrange()
}

// gather puts the rows of a group together, in their order, and the groups by name.
func (t *Table[R]) gather() {
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

// heading is the line above a row, if one stands there: above the first row of a
// group, and above the first row that is drawn.
func (t *Table[R]) heading(at int) (text string, ok bool) {
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

// scroll moves the first row that is drawn until the cursor's is among them, with the
// lines of the groups between.
func (t *Table[R]) scroll(lines int) {
	if t.grouping.of == nil {
		return
	}
	for t.top < t.at && t.linesTo(t.at) > lines {
		t.top++
	}
}

// linesTo is how many lines the rows from the first drawn to this one take.
func (t *Table[R]) linesTo(at int) int {
	lines := 0
	for i := t.top; i <= at; i++ {
		if _, ok := t.heading(i); ok {
			lines++
		}
		lines++
	}
	return lines
}

// body draws the rows with the lines of their groups, and notes which row stands in which line.
func (t *Table[R]) body(ctx *screen.Context, c canvas.Canvas, lines int, seen map[string]*seenRow) {
	t.lines = t.lines[:0]
	at := t.top
	for len(t.lines) < lines && at < len(t.rows) {
		if text, ok := t.heading(at); ok {
			c.Fit(1, len(t.lines)+1, c.W-1, text, theme.Head)
			t.lines = append(t.lines, -1)
			if len(t.lines) == lines {
				break
			}
		}
		t.row(ctx, c, len(t.lines)+1, t.rows[at], at == t.at, seen)
		t.lines = append(t.lines, at)
		at++
	}
	t.drawnRows = at - t.top
}

// overflows says whether rows and lines of groups are more than so many lines.
func (t *Table[R]) overflows(lines int) bool {
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
