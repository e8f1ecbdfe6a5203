package widget

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// linger is how long a removed row stays visible and a changed cell is bold.
const linger = 2 * time.Second

// Table is a table of rows below a header. A Table whose Columns and ID are set is empty and ready for use.
type Table[R any] struct {
	Columns []Column[R]
	// ID returns the unique ID of a row, which identifies the row for the cursor, marks and changes.
	ID func(R) string
	// Default orders the rows until the user sorts by a column; if nil, the rows keep their order. DefaultSort
	// describes this order, for example "queue, -priority".
	Default     func(a, b R) int
	DefaultSort string
	// Dim reports whether a row is drawn faint; if nil, none is.
	Dim func(R) bool

	rows   []R
	cursor string // ID of the row under the cursor
	at     int    // its index in rows
	top    int    // index of the first visible row
	height int    // number of rows when last drawn
	drawn  canvas.Canvas
	width  int // the terminal width for which the columns were chosen when last drawn
	frames int // number of times it was drawn
	heads  []placedColumn

	empty   map[string]bool // caches which columns are empty until the rows change
	order   []sortKey       // the columns that the user sorts by, the most important first
	chosen  map[string]bool
	marks   map[string]bool
	anchor  string // start of a range of marked rows; "" if none exists
	gone    map[string]time.Time
	seen    map[string]*seenRow
	still   bool // drawn as text: without a cursor
	moved   bool // the user chose the row under the cursor
	loading bool // the rows come from incomplete lists

	grouping    grouping[R]
	orderSerial int   // number of changes of the order
	lines       []int // row index by line; -1 is a group heading
	drawnRows   int
}

// SetRows sets the rows to show. The cursor stays on its row, and the row stays at the same position on the screen.
// If lingering is set, visible rows that disappear are kept for two seconds. While lists are incomplete, the first
// row is arbitrary, so the cursor does not follow it unless the user chose it.
func (t *Table[R]) SetRows(ctx *screenapi.Context, rows []R, lingering bool) {
	if t.loading && !t.moved {
		t.at, t.top, t.cursor = 0, 0, ""
	}
	t.loading = ctx.Snap != nil && ctx.Snap.Connection.Link == snapshot.LinkLoading
	kept := slices.Clone(rows)
	if lingering {
		kept = append(kept, t.missingRows(ctx.Now, rows)...)
	} else {
		t.gone = nil
	}
	t.rows = kept
	t.arrangeRows()
}

// missingRows returns the rows that were last drawn but are not among the new rows.
func (t *Table[R]) missingRows(now time.Time, rows []R) []R {
	seen := map[string]R{}
	for i := t.top; i < min(t.top+t.height, len(t.rows)); i++ {
		seen[t.ID(t.rows[i])] = t.rows[i]
	}
	for i := range t.rows { // rows that already linger, at any position
		if id := t.ID(t.rows[i]); len(t.gone) > 0 && !t.gone[id].IsZero() {
			seen[id] = t.rows[i]
		}
	}
	for _, row := range rows {
		id := t.ID(row)
		delete(seen, id)
		delete(t.gone, id)
	}
	var missing []R
	for _, old := range t.rows {
		id := t.ID(old)
		if _, ok := seen[id]; !ok {
			continue
		}
		since, known := t.gone[id]
		if !known {
			since = now
			if t.gone == nil {
				t.gone = map[string]time.Time{}
			}
			t.gone[id] = now
		}
		if now.Sub(since) < linger {
			missing = append(missing, old)
		} else {
			delete(t.gone, id)
		}
	}
	return missing
}

// dropExpired removes rows that have lingered long enough. It replaces the slices and maps instead of modifying them,
// because a copy of the table may share them.
func (t *Table[R]) dropExpired(now time.Time) {
	over := func(id string) bool {
		since, ok := t.gone[id]
		return ok && now.Sub(since) >= linger
	}
	if len(t.gone) == 0 || !slices.ContainsFunc(t.rows, func(row R) bool { return over(t.ID(row)) }) {
		return
	}
	t.rows = slices.DeleteFunc(slices.Clone(t.rows), func(row R) bool { return over(t.ID(row)) })
	left := maps.Clone(t.gone)
	maps.DeleteFunc(left, func(id string, _ time.Time) bool { return over(id) })
	t.gone = left
	t.followCursor()
}

// arrangeRows sorts the rows and moves the cursor to its row.
func (t *Table[R]) arrangeRows() {
	t.grouping.heads, t.empty = nil, nil
	if compare := t.compareFunction(); !t.isArranged(compare) {
		if compare != nil {
			sortStable(t.rows, compare)
		}
		t.sortByGroup()
	}
	t.followCursor()
}

// sortStable sorts rows and preserves the order of equal ones. It takes half as much time as slices.SortStableFunc,
// but more memory.
func sortStable[R any](rows []R, compare func(a, b R) int) {
	type placed struct {
		row R
		at  int32
	}
	all := make([]placed, len(rows))
	for i := range rows {
		all[i] = placed{rows[i], int32(i)} //nolint:gosec // a table has fewer rows
	}
	slices.SortFunc(all, func(a, b placed) int { return cmp.Or(compare(a.row, b.row), cmp.Compare(a.at, b.at)) })
	for i := range all {
		rows[i] = all[i].row
	}
}

// followCursor moves the cursor to its row after rows have moved, and keeps that row in the same line.
func (t *Table[R]) followCursor() {
	line := t.at - t.top
	if at := slices.IndexFunc(t.rows, func(row R) bool { return t.ID(row) == t.cursor }); at >= 0 && t.cursor != "" {
		t.at = at
		t.top = at - line
	}
	t.clampCursor()
}

// clampCursor limits the cursor and the first visible row to valid indexes.
func (t *Table[R]) clampCursor() {
	t.at = min(max(t.at, 0), max(len(t.rows)-1, 0))
	t.cursor = ""
	if len(t.rows) > 0 {
		t.cursor = t.ID(t.rows[t.at])
	}
	height := max(t.height, 1)
	t.top = min(t.top, t.at)
	t.top = max(t.top, t.at-height+1)
	t.top = max(min(t.top, len(t.rows)-height), 0)
}

// Rows returns the rows in display order, including lingering ones.
func (t *Table[R]) Rows() []R { return t.rows }

// Selected returns the row under the cursor; ok is false if the table is empty.
func (t *Table[R]) Selected() (row R, ok bool) {
	if len(t.rows) == 0 {
		return row, false
	}
	return t.rows[t.at], true
}

// Select moves the cursor to the row with the specified ID. It reports whether there is such a row.
func (t *Table[R]) Select(id string) bool {
	at := slices.IndexFunc(t.rows, func(row R) bool { return t.ID(row) == id })
	if at < 0 {
		return false
	}
	t.at, t.moved = at, true
	t.clampCursor()
	return true
}

// GoHomeIfLost moves the cursor to the first row unless it is still on the row with the specified ID. After a change of
// the filter, the cursor is otherwise on an arbitrary row.
func (t *Table[R]) GoHomeIfLost(id string) {
	if t.cursor != id {
		t.Home()
	}
}

// CursorID returns the ID of the row under the cursor; it is empty if the table is empty.
func (t *Table[R]) CursorID() string { return t.cursor }

// IsLingering reports whether the row has been removed and only lingers.
func (t *Table[R]) IsLingering(row R) bool {
	_, gone := t.gone[t.ID(row)]
	return gone
}
