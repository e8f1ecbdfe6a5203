package screenapi

import "fmt"

// Arrangement is the user's choice of columns and order for the table of a screen.
type Arrangement struct {
	// Columns lists the keys of the columns to show, in this order. An entry TITLE:JSONPATH adds a column with a field of
	// the row's API object, as in kubectl's -o custom-columns. If empty, the table keeps its own columns.
	Columns []string
	// Sort lists the keys of the columns to sort by, the most important first; "-" before a key means descending order.
	// If empty, the table keeps its own order.
	Sort []string
}

// Arranged is a screen with a table that can be arranged. If an entry is invalid, ArrangeTable returns an
// *ArrangementError and leaves the table unchanged.
type Arranged interface {
	ArrangeTable(Arrangement) error
}

// ArrangementError is the reason why an entry of an Arrangement is invalid.
type ArrangementError struct {
	// InSort is true if the entry is in Sort, and false if it is in Columns. Index is its position.
	InSort bool
	Index  int
	// What is the reason, and Hint what to write instead.
	What, Hint string
}

// Error returns the reason and the hint.
func (e *ArrangementError) Error() string { return fmt.Sprintf("%s; %s", e.What, e.Hint) }
