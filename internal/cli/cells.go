package cli

import (
	"fmt"

	"github.com/vc-batch/vc/internal/printable"
)

// Cells returns the values of a row as texts that stay within their line; Volcano's tables print them to the blank.
func Cells(values []any) []any {
	cells := make([]any, len(values))
	for i, value := range values {
		cells[i] = printable.Line(fmt.Sprint(value))
	}
	return cells
}
