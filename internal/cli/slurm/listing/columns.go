package listing

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/usererror"
)

// wordWidth is the default width of a column selected with -O.
const wordWidth = 20

// selectedColumns returns the columns that -O selects with words or, if words is empty, the columns that -o selects
// with letters. Like Slurm, it prints a message about unknown columns to stderr and returns the others. invalid is the
// first part of that message.
func selectedColumns[T any](c *program.Call, letters, words string, fields []tableformat.Field[T], invalid string) (tableformat.Columns[T], error) {
	var columns tableformat.Columns[T]
	var unknown []string
	var err error
	if words != "" {
		columns, unknown, err = tableformat.ParseWords(words, fields, wordWidth)
	} else {
		columns, unknown, err = tableformat.ParseLetters(letters, fields)
	}
	if err != nil {
		return nil, usererror.Errorf("use a smaller width, for example %.18i or JobID:18", "%s: %s", invalid, err)
	}
	for _, name := range unknown {
		fmt.Fprintf(c.Factory.Streams.Err, "%s: error: %s: %s\n", c.Table.Program, invalid, printable.EscapeLine(name))
	}
	return columns, nil
}

// printTable prints rows in columns that are widened to fit. If requested, it prints a heading and, before it, the
// date.
func printTable[T any](c *program.Call, columns tableformat.Columns[T], rows []T, heading, dated bool) error {
	columns = slices.Clone(columns)
	columns.WidenToFit(rows, heading)
	if dated && heading {
		fmt.Fprintln(c.Factory.Streams.Out, c.Factory.Now().Format("Mon Jan 02 15:04:05 2006"))
	}
	_, err := io.WriteString(c.Factory.Streams.Out, columns.FormatLines(rows, heading))
	return err
}

// printFieldNames lists the names of columns, four per line.
func printFieldNames[T any](c *program.Call, fields []tableformat.Field[T]) error {
	var names []string
	for _, f := range fields {
		names = append(names, f.Names[0])
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	var b strings.Builder
	b.WriteString("Fields available:\n\n")
	for i, name := range names {
		if (i+1)%4 == 0 || i == len(names)-1 {
			b.WriteString(name + "\n")
			continue
		}
		fmt.Fprintf(&b, "%-19s ", name)
	}
	_, err := io.WriteString(c.Factory.Streams.Out, b.String())
	return err
}

// documentFormat returns "json" or "yaml" if an option requests that format, and "" otherwise.
func documentFormat(c *program.Call) string {
	format := ""
	for _, name := range program.MachineFormats {
		if c.Parsed.Has(name) {
			format = name
		}
	}
	return format
}
