package widget

// Place is the position of a table's cursor.
type Place struct {
	// ID is the ID of the row under the cursor; it is empty if the table is empty.
	ID string
	// At is the cursor's index among Rows rows, Top is the index of the first visible row, and Height is the number
	// of rows that fit.
	At, Rows, Top, Height int
	// Frames is the number of times the table has been drawn. A hidden page is not drawn.
	Frames int
	// StartsAtTop is true while the lists are incomplete and the user has not moved the cursor. The cursor then goes to
	// the first row whenever rows arrive.
	StartsAtTop bool
}

// Placed is a table that exposes the position of its cursor.
type Placed interface {
	Place() Place
	// Has reports whether a row is in the table.
	Has(id string) bool
}

// Tabled is a screen with tables, which tests use to check the cursors.
type Tabled interface{ Tables() []Placed }

var _ Placed = (*Table[int])(nil)

// Place returns the position of the cursor.
func (t *Table[R]) Place() Place {
	return Place{ID: t.cursor, At: t.at, Rows: len(t.rows), Top: t.top, Height: t.height, Frames: t.frames, StartsAtTop: t.loading && !t.moved}
}

// Has reports whether a row is in the table.
func (t *Table[R]) Has(id string) bool {
	for _, row := range t.rows {
		if t.ID(row) == id {
			return true
		}
	}
	return false
}
