package layout

import (
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/fault"
)

// Sized reads a format of words with commas between, each with %20 or %-20 for its width; a field's own width is negative when it stands left.
func Sized[T any](text string, fields []Field[T]) (Columns[T], error) {
	var columns Columns[T]
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		name, width, sized := strings.Cut(word, "%")
		f, ok := Find(name, fields)
		if !ok {
			return nil, fault.Errorf("", "Invalid field requested: %q", name)
		}
		n := f.Width
		if sized && width != "" {
			var err error
			if n, err = strconv.Atoi(width); err != nil || n > maxWidth || n < -maxWidth {
				return nil, fault.Errorf("", "Invalid field size: %q", word)
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

// Form is how a table of Sized columns is printed.
type Form struct {
	// Parsable has Between between its columns, and no widths; Closed has it after the last one, too.
	Parsable, Closed bool
	Between          string
	Heading          bool
}

// Sheet is a table in a form: with a line of dashes under the titles when it is not parsable.
func (c Columns[T]) Sheet(rows []T, form Form) string {
	var b strings.Builder
	if !form.Parsable {
		if form.Heading {
			b.WriteString(c.Heading() + "\n")
			for i := range c {
				b.WriteString(strings.Repeat("-", c[i].Width) + " ")
			}
			b.WriteString("\n")
		}
		for _, row := range rows {
			b.WriteString(c.Line(row) + "\n")
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
		write(func(col *Column[T]) string { return col.Field.Value(row) })
	}
	return b.String()
}
