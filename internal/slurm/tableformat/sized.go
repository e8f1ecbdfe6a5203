package tableformat

import (
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/usererror"
)

// findAbbreviated returns the field with the given name. If none exists, it returns the alphabetically first field
// whose name starts with word. As in Slurm, time is therefore an abbreviation of Timelimit.
func findAbbreviated[T any](word string, fields []Field[T]) (Field[T], bool) {
	if f, ok := FindField(word, fields); ok || word == "" {
		return f, ok
	}
	var best Field[T]
	first := ""
	for _, f := range fields {
		if len(f.Names) == 0 {
			continue
		}
		name := strings.ToLower(f.Names[0])
		if isBefore := first == "" || name < first; isBefore && strings.HasPrefix(name, strings.ToLower(word)) {
			best, first = f, name
		}
	}
	return best, first != ""
}

// ParseSized parses a comma-separated list of words. Each word may be abbreviated and may be followed by a width, such
// as %20 or %-20. A negative width, which may also be a field's default, aligns the column to the left.
func ParseSized[T any](text string, fields []Field[T]) (Columns[T], error) {
	var columns Columns[T]
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		name, width, sized := strings.Cut(word, "%")
		f, ok := findAbbreviated(name, fields)
		if !ok {
			return nil, usererror.Errorf("", "Invalid field requested: %q", name)
		}
		n := f.Width
		if sized && width != "" {
			var err error
			if n, err = strconv.Atoi(width); err != nil || n > maxWidth || n < -maxWidth {
				return nil, usererror.Errorf("", "Invalid field size: %q", word)
			}
		}
		c := Column[T]{Field: f, Width: n, Right: true, After: " ", Mark: "+"}
		if n < 0 {
			c.Width, c.Right = -n, false
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// Form is the format of a table whose columns were parsed by ParseSized.
type Form struct {
	// Parsable separates columns by Between and ignores widths. Closed also adds Between after the last column.
	Parsable, Closed bool
	Between          string
	Heading          bool
}

// FormatTable formats rows as a table. Unless the table is parsable, a line of dashes follows the titles.
func (c Columns[T]) FormatTable(rows []T, form Form) string {
	var b strings.Builder
	if !form.Parsable {
		if form.Heading {
			b.WriteString(c.HeadingLine() + "\n")
			for i := range c {
				b.WriteString(strings.Repeat("-", c[i].Width) + " ")
			}
			b.WriteString("\n")
		}
		for _, row := range rows {
			b.WriteString(c.RowLine(row) + "\n")
		}
		return b.String()
	}
	write := func(text func(*Column[T]) string) {
		for i := range c {
			b.WriteString(text(&c[i]))
			if i < len(c)-1 || form.Closed {
				b.WriteString(form.Between)
			}
		}
		b.WriteString("\n")
	}
	if form.Heading {
		write(func(col *Column[T]) string { return col.Field.Title })
	}
	for _, row := range rows {
		write(func(col *Column[T]) string { return col.cellText(row) })
	}
	return b.String()
}
