package cli

import (
	"fmt"

	"github.com/vc-batch/vc/internal/printable"
)

// FormatCells formats the values of a table row as single-line texts. Line breaks become spaces, and other control
// characters become visible escapes.
func FormatCells(values []any) []any {
	cells := make([]any, len(values))
	for i, value := range values {
		cells[i] = printable.EscapeLine(fmt.Sprint(value))
	}
	return cells
}
