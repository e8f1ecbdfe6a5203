// Package tableformat formats the tables of Slurm's listing commands. Columns are selected by letters (%.18i), by words
// (JobID:10) or by sacct's words (State%20), and their texts are cut to the widths of the columns.
//
//	In:   a format from the user, the available fields
//	Out:  columns; a heading and lines
package tableformat

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vc-batch/vc/internal/printable"
)

// Field is an available column.
type Field[T any] struct {
	// Letter selects the field in a short format. 0 means that there is no letter. Names select the field in a long
	// format. The first name is capitalized as in the manual.
	Letter byte
	Names  []string
	// Title is the heading.
	Title string
	// Width is the default width. 0 means the default width of the format.
	Width int
	// Value returns the text of the column for a row.
	Value func(T) string
}

// NewField creates a field. words are separated by |.
func NewField[T any](letter byte, words, title string, width int, value func(T) string) Field[T] {
	f := Field[T]{Letter: letter, Title: title, Width: width, Value: value}
	if words != "" {
		f.Names = strings.Split(words, "|")
	}
	return f
}

// Column is a field with the requested width.
type Column[T any] struct {
	Field Field[T]
	// If Width is 0, each text has its own width. Fit widens the column to the longest text in it.
	Width      int
	Right, Fit bool
	// Before and After are literal texts around the column.
	Before, After string
	// Mark is appended to texts that are cut, as in sacct. It may be empty.
	Mark string
}

// Columns lists the columns of a table in order.
type Columns[T any] []Column[T]

// ParseLetters parses a format of letters: %[[.]size]letter, with any text between the columns. %all selects all fields
// that have a letter, separated by |. As in Slurm, a letter without a field is literal text. unknown lists these
// letters.
func ParseLetters[T any](format string, fields []Field[T]) (columns Columns[T], unknown []string, err error) {
	literal := ""
	for format != "" {
		at := strings.IndexByte(format, '%')
		if at < 0 {
			literal += format
			break
		}
		literal, format = literal+format[:at], format[at:]
		if rest, is := strings.CutPrefix(format, "%all"); is {
			columns, literal, format = append(columns, allColumns(fields, literal)...), "", rest
			continue
		}
		spec, err := readLetter(format)
		if err != nil {
			return nil, nil, err
		}
		if f, ok := findByLetter(spec.letter, fields); ok {
			columns = append(columns, Column[T]{Field: f, Width: spec.width, Right: spec.right, Fit: spec.fit, Before: literal})
			literal = ""
		} else {
			literal += spec.text
			if spec.letter != "" {
				unknown = append(unknown, spec.letter)
			}
		}
		format = format[len(spec.text):]
	}
	return columns.appendText(literal), unknown, nil
}

// appendText adds text after the last column. A table without columns consists only of the text.
func (c Columns[T]) appendText(text string) Columns[T] {
	if len(c) == 0 {
		return Columns[T]{{Field: Field[T]{Value: func(T) string { return "" }}, Before: text}}
	}
	c[len(c)-1].After += text
	return c
}

// allColumns returns a column for each field that has a letter.
func allColumns[T any](fields []Field[T], before string) Columns[T] {
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

// letterSpec is a column in a short format.
type letterSpec struct {
	text       string // the whole text, such as %.18i
	letter     string // empty at the end of the format
	width      int
	right, fit bool
}

// readLetter parses %[#][.][#][size]letter at the beginning of a text.
func readLetter(format string) (letterSpec, error) {
	var spec letterSpec
	rest := format[1:]
	for ; rest != "" && (rest[0] == '#' || rest[0] == '.'); rest = rest[1:] {
		spec.fit = spec.fit || rest[0] == '#'
		spec.right = spec.right || rest[0] == '.'
	}
	var err error
	if spec.width, rest, err = readWidth(rest); err != nil {
		return spec, err
	}
	_, size := utf8.DecodeRuneInString(rest)
	spec.letter = rest[:size]
	spec.text = format[:len(format)-len(rest)+size]
	return spec, nil
}

// readWidth parses the digits at the beginning of a text, and returns the rest of the text.
func readWidth(text string) (width int, rest string, err error) {
	rest = strings.TrimLeft(text, "0123456789")
	digits := text[:len(text)-len(rest)]
	if digits == "" {
		return 0, rest, nil
	}
	width, err = strconv.Atoi(digits)
	if err != nil || width > maxWidth {
		return 0, "", fmt.Errorf("the width %s exceeds the maximum of %d", digits, maxWidth)
	}
	return width, rest, nil
}

func findByLetter[T any](letter string, fields []Field[T]) (Field[T], bool) {
	for _, f := range fields {
		if f.Letter != 0 && letter == string(f.Letter) {
			return f, true
		}
	}
	return Field[T]{}, false
}

// maxWidth is the maximum width of a column.
const maxWidth = 1 << 16

// FindField returns the field with the given name, ignoring case, dashes and underscores.
func FindField[T any](name string, fields []Field[T]) (Field[T], bool) {
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

// ParseWords parses a comma-separated list of words. A word of the form Name has the given width, Name:[.]size[suffix]
// has the width size, and Name:[.][suffix] has the width of its text. Words without a field are omitted and listed in
// unknown.
func ParseWords[T any](format string, fields []Field[T], width int) (columns Columns[T], unknown []string, err error) {
	for word := range strings.SplitSeq(format, ",") {
		name, size, sized := strings.Cut(strings.TrimLeft(word, " \t\n"), ":")
		f, ok := FindField(strings.TrimSpace(name), fields)
		if !ok {
			if strings.TrimSpace(word) != "" {
				unknown = append(unknown, name)
			}
			continue
		}
		c := Column[T]{Field: f, Width: width}
		if sized {
			size, c.Right = strings.CutPrefix(size, ".")
			if c.Width, c.After, err = readWidth(size); err != nil {
				return nil, nil, err
			}
		}
		columns = append(columns, c)
	}
	return columns.appendText(""), unknown, nil
}

// HeadingLine returns the line with the titles of the columns.
func (c Columns[T]) HeadingLine() string {
	return c.joinColumns(func(one *Column[T]) string { return one.Field.Title })
}

// RowLine returns the line for a row.
func (c Columns[T]) RowLine(row T) string {
	return c.joinColumns(func(one *Column[T]) string { return one.cellText(row) })
}

// FormatLines formats rows as lines, with the titles first if heading is true.
func (c Columns[T]) FormatLines(rows []T, heading bool) string {
	var b strings.Builder
	if heading {
		b.WriteString(c.HeadingLine() + "\n")
	}
	for _, row := range rows {
		b.WriteString(c.RowLine(row) + "\n")
	}
	return b.String()
}

func (c Columns[T]) joinColumns(text func(*Column[T]) string) string {
	var b strings.Builder
	for i := range c {
		b.WriteString(c[i].Before)
		b.WriteString(c[i].fitToWidth(text(&c[i])))
		b.WriteString(c[i].After)
	}
	return b.String()
}

// cellText returns the column's text for a row. It replaces line breaks, because users can put them into names and
// comments, and the text after a line break would look like a new row.
func (c *Column[T]) cellText(row T) string { return printable.EscapeLine(c.Field.Value(row)) }

// fitToWidth cuts or pads a text to the width of the column.
func (c *Column[T]) fitToWidth(text string) string {
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

// WidenToFit sets the width of each column with Fit to the width of the column's longest text.
func (c Columns[T]) WidenToFit(rows []T, heading bool) {
	for i := range c {
		if !c[i].Fit {
			continue
		}
		width := c[i].Width
		if heading {
			width = max(width, len(c[i].Field.Title))
		}
		for _, row := range rows {
			width = max(width, utf8.RuneCountInString(c[i].cellText(row)))
		}
		c[i].Width = width
	}
}
