package widget

// Place is where the cursor of a table is.
type Place struct {
	// ID is of the row under the cursor; "" in an empty table.
	ID string
	// At is its place among so many rows, Top that of the first row that was drawn, Height
	// how many rows there is room for.
	At, Rows, Top, Height int
	// Frames counts how often the table was drawn: a page that is not shown is not.
	Frames int
}

// Placed is a table whose cursor can be looked at.
type Placed interface {
	Place() Place
	// Has says whether a row is among those that are shown.
	Has(id string) bool
}

// Tabled is a screen that has tables: tests hold their cursors.
type Tabled interface{ Tables() []Placed }

var _ Placed = (*Table[int])(nil)

// Place is where the cursor is.
func (t *Table[R]) Place() Place {
	return Place{ID: t.cursor, At: t.at, Rows: len(t.rows), Top: t.top, Height: t.height, Frames: t.frames}
}

// Has says whether a row is among those that are shown.
func (t *Table[R]) Has(id string) bool {
	for _, row := range t.rows {
		if t.ID(row) == id {
			return true
		}
	}
	return false
}
