package slurm

import (
	"fmt"

	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/slurm/fault"
	"github.com/vc-batch/vc/internal/slurm/layout"
)

// wordWidth is the width of a column of -O that names none.
const wordWidth = 20

// askedColumns returns the columns of -O's words, or of -o's letters if there are no words. Like Slurm, it reports columns that do not exist on
// stderr and returns the others; invalid is the beginning of that message.
func askedColumns[T any](c *call, letters, words string, fields []layout.Field[T], invalid string) (layout.Columns[T], error) {
	var columns layout.Columns[T]
	var unknown []string
	var err error
	if words != "" {
		columns, unknown, err = layout.Long(words, fields, wordWidth)
	} else {
		columns, unknown, err = layout.Short(letters, fields)
	}
	if err != nil {
		return nil, fault.Errorf("write a smaller width, as %.18i or JobID:18", "%s: %s", invalid, err)
	}
	for _, name := range unknown {
		fmt.Fprintf(c.f.Streams.Err, "%s: error: %s: %s\n", c.table.Program, invalid, printable.Line(name))
	}
	return columns, nil
}
