// Package layout makes the tables of Slurm's listing commands: columns that are named by letters (%.18i), by words (JobID:10) or by sacct's
// words (State%20), and cut to their widths.
//
//	In:   a format as the user gave it, and the fields that there are
//	Out:  columns; a heading and lines
package layout

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Field is a column that can be asked for.
type Field[T any] struct {
	// Letter is its letter in a short format, 0 for none; Names its words in a long one, the first with the capitals of the manual.
	Letter byte
	Names  []string
	// Title stands above it.
	Title string
	// Width is what it has when none is given; 0 means the default of the format.
	Width int
	// Value is what it shows.
	Value func(T) string
}

// New makes a field; words have | between them.
func New[T any](letter byte, words, title string, width int, value func(T) string) Field[T] {
	f := Field[T]{Letter: letter, Title: title, Width: width, Value: value}
	if words != "" {
		f.Names = strings.Split(words, "|")
	}
	return f
}

// Column is a field with the width that it was asked for with.
type Column[T any] struct {
	Field Field[T]
	// Width is 0 for as wide as the text is. Fit is for as wide as the longest of all texts.
	Width      int
	Right, Fit bool
	// Before and After are literal text around it.
	Before, After string
	// Mark is put behind texts that are cut, as sacct does; 0 for nothing.
	Mark string
}

// Columns are those of a table, in order.
type Columns[T any] []Column[T]

// Short reads a format of letters: %[[.]size]letter, with any text between. tail is what stands behind the last one. all is the field that %all
// stands for: every field that has a letter, with | between.
func Short[T any](format string, fields []Field[T]) (Columns[T], error) {
	var columns Columns[T]
	before := ""
	for format != "" {
		at := strings.IndexByte(format, '%')
		if at < 0 {
			if len(columns) == 0 {
				return nil, fmt.Errorf("%q names no column", format)
			}
			columns[len(columns)-1].After += format
			return columns, nil
		}
		before += format[:at]
		format = format[at+1:]
		if rest, is := strings.CutPrefix(format, "all"); is {
			format = rest
			columns = append(columns, every(fields, before)...)
			before = ""
			continue
		}
		column, rest, err := one(format, fields)
		if err != nil {
			return nil, err
		}
		column.Before, before, format = before, "", rest
		columns = append(columns, column)
	}
	return columns, nil
}

// every is one column for each letter.
func every[T any](fields []Field[T], before string) Columns[T] {
	var columns Columns[T]
	for _, f := range fields {
		if f.Letter == 0 {
			continue
		}
		columns = append(columns, Column[T]{Field: f, Before: before})
		before = "|"
	}
	return columns
}

// one reads [#][.][size]letter.
func one[T any](text string, fields []Field[T]) (Column[T], string, error) {
	var c Column[T]
	whole := text
	if rest, is := strings.CutPrefix(text, "#"); is {
		c.Fit, text = true, rest
	}
	if rest, is := strings.CutPrefix(text, "."); is {
		c.Right, text = true, rest
	}
	if rest, is := strings.CutPrefix(text, "#"); is {
		c.Fit, text = true, rest
	}
	digits := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	text = text[len(digits):]
	if digits != "" {
		n, err := strconv.Atoi(digits)
		if err != nil || n > maxWidth {
			return c, "", fmt.Errorf("the width %s is larger than %d", digits, maxWidth)
		}
		c.Width = n
	}
	if text == "" {
		return c, "", fmt.Errorf("%%%s has no letter", whole)
	}
	for _, f := range fields {
		if f.Letter == text[0] {
			c.Field = f
			return c, text[1:], nil
		}
	}
	return c, "", fmt.Errorf("%%%c is no column", text[0])
}

// maxWidth is how wide a column may be.
const maxWidth = 1 << 16

// Find is the field of a word, in any case; words that differ by - and _ only are the same.
func Find[T any](name string, fields []Field[T]) (Field[T], bool) {
	plain := strings.NewReplacer("-", "", "_", "")
	for _, f := range fields {
		for _, own := range f.Names {
			if strings.EqualFold(plain.Replace(own), plain.Replace(name)) {
				return f, true
			}
		}
	}
	return Field[T]{}, false
}

// Long reads a format of words: Name[:[.]size[suffix]] with commas between. Without a size a column has width letters.
func Long[T any](format string, fields []Field[T], width int) (Columns[T], error) {
	var columns Columns[T]
	for word := range strings.SplitSeq(format, ",") {
		name, size, _ := strings.Cut(strings.TrimSpace(word), ":")
		f, ok := Find(name, fields)
		if !ok {
			return nil, fmt.Errorf("%q is no column", name)
		}
		c := Column[T]{Field: f, Width: width}
		if rest, is := strings.CutPrefix(size, "."); is {
			c.Right, size = true, rest
		}
		if digits := size[:len(size)-len(strings.TrimLeft(size, "0123456789"))]; digits != "" {
			n, err := strconv.Atoi(digits)
			if err != nil || n > maxWidth {
				return nil, fmt.Errorf("the width %s is larger than %d", digits, maxWidth)
			}
			c.Width, size = n, size[len(digits):]
		}
		c.After = size
		columns = append(columns, c)
	}
	return columns, nil
}

// Heading is the line of titles.
func (c Columns[T]) Heading() string {
	return c.join(func(one *Column[T]) string { return one.Field.Title })
}

// Line is what is said of a row.
func (c Columns[T]) Line(row T) string {
	return c.join(func(one *Column[T]) string { return one.Field.Value(row) })
}

func (c Columns[T]) join(text func(*Column[T]) string) string {
	var b strings.Builder
	for i := range c {
		b.WriteString(c[i].Before)
		b.WriteString(c[i].fit(text(&c[i])))
		b.WriteString(c[i].After)
	}
	return b.String()
}

// fit cuts and fills a text to the width of the column.
func (c *Column[T]) fit(text string) string {
	if c.Width == 0 {
		return text
	}
	n := utf8.RuneCountInString(text)
	if n > c.Width {
		letters := []rune(text)
		if c.Mark != "" {
			return string(letters[:max(c.Width-1, 0)]) + c.Mark
		}
		return string(letters[:c.Width])
	}
	fill := strings.Repeat(" ", c.Width-n)
	if c.Right {
		return fill + text
	}
	return text + fill
}

// Widen makes the columns that are to fit as wide as their longest text.
func (c Columns[T]) Widen(rows []T, heading bool) {
	for i := range c {
		if !c[i].Fit {
			continue
		}
		width := c[i].Width
		if heading {
			width = max(width, len(c[i].Field.Title))
		}
		for _, row := range rows {
			width = max(width, utf8.RuneCountInString(c[i].Field.Value(row)))
		}
		c[i].Width = width
	}
}
