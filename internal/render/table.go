package render

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/vc-batch/vc/internal/printable"
)

// DefaultGap is the number of spaces between two columns, as in kubectl.
const DefaultGap = 3

// Table is a table in kubectl's layout: rows of cells under a header, without lines. The zero value is an empty table.
type Table struct {
	// Header holds the column titles. They are not printed if NoHeader is set.
	Header []string
	// Rows holds one cell per column.
	Rows [][]string
	// NoHeader omits the titles. Their widths then do not affect the widths of the columns.
	NoHeader bool
	// MaxWidth is the width of the terminal in cells; 0 means unlimited.
	MaxWidth int
	// FreeText marks the last column as free text, which may be shortened to fit MaxWidth. Other columns are never
	// shortened.
	FreeText bool
	// Gap is the number of blanks between columns; 0 means DefaultGap.
	Gap int
	// FirstGap is the number of blanks after the first column; 0 means Gap.
	FirstGap int
	// MinWidths holds the minimum widths of the columns, so that rows printed later align with the header printed
	// first.
	MinWidths []int
	// Colored allows the colours of a Style in cells. Without it, every escape sequence is treated as untrusted text.
	Colored bool
	// Spare lists the columns that may be omitted if MaxWidth is too small, in the order in which they are omitted.
	Spare []int
}

// leastFreeText is the minimum width of the free text. Columns are omitted until the free text has a width of
// enoughFreeText.
const (
	leastFreeText  = 6
	enoughFreeText = 24
)

// ColumnWidths returns the width of every column in cells, without the gap.
func (t *Table) ColumnWidths() []int {
	widths := append([]int(nil), t.MinWidths...)
	grow := func(cells []string) {
		for column, cell := range cells {
			for len(widths) <= column {
				widths = append(widths, 0)
			}
			widths[column] = max(widths[column], Width(cell))
		}
	}
	if !t.NoHeader {
		grow(t.Header)
	}
	for _, row := range t.Rows {
		grow(row)
	}
	return widths
}

// Fprint writes the table, without trailing blanks.
func (t *Table) Fprint(out io.Writer) error {
	if len(t.Rows) == 0 && (t.NoHeader || len(t.Header) == 0) {
		return nil
	}
	t.cleanCells()
	if len(t.Spare) > 0 {
		t.KeepColumns(t.FitColumns())
	}
	widths := t.ColumnWidths()
	rows := t.Rows
	if t.FreeText && t.MaxWidth > 0 {
		rows = t.shortenRows(widths)
	}
	lines := bufio.NewWriter(out)
	if !t.NoHeader && len(t.Header) > 0 {
		t.writeLine(lines, t.Header, widths)
	}
	for _, row := range rows {
		t.writeLine(lines, row, widths)
	}
	return lines.Flush()
}

// shortenRows returns the rows with the last column cut to the width left on the line.
func (t *Table) shortenRows(widths []int) [][]string {
	last := len(widths) - 1
	room := t.MaxWidth
	for column := range last {
		room -= widths[column] + t.gapAfter(column)
	}
	room = max(room, leastFreeText)
	if widths[last] <= room {
		return t.Rows
	}
	widths[last] = room
	rows := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = row
		if len(row) == last+1 && Width(row[last]) > room {
			rows[i] = append(append([]string(nil), row[:last]...), Shorten(row[last], room))
		}
	}
	return rows
}

func (t *Table) gapAfter(column int) int {
	gap := t.Gap
	gap = cmp.Or(gap, DefaultGap)
	if column == 0 && t.FirstGap > 0 {
		gap = t.FirstGap
	}
	return gap
}

// writeLine writes cells, aligned by column. The writer stores errors.
func (t *Table) writeLine(out *bufio.Writer, cells []string, widths []int) {
	blanks := 0
	for column, cell := range cells {
		cell = strings.TrimRight(cell, " ")
		if cell != "" {
			writeBlanks(out, blanks)
			_, _ = out.WriteString(cell)
			blanks = 0
		}
		blanks += max(0, widths[column]-Width(cell)) + t.gapAfter(column)
	}
	_ = out.WriteByte('\n')
}

func writeBlanks(out *bufio.Writer, n int) {
	const some = "                                "
	for ; n > len(some); n -= len(some) {
		_, _ = out.WriteString(some)
	}
	_, _ = out.WriteString(some[:n])
}

// cleanCells makes every cell safe to print as part of one line, because cells may hold untrusted text.
func (t *Table) cleanCells() {
	for i, row := range t.Rows {
		cleaned := row
		for column, cell := range row {
			text := cleanLine(cell, t.Colored)
			if text == cell {
				continue
			}
			if &cleaned[0] == &row[0] {
				cleaned = slices.Clone(row)
			}
			cleaned[column] = text
		}
		t.Rows[i] = cleaned
	}
}

// cleanLine makes text safe to print as part of one line. This is necessary because a line break would split the row,
// and other control characters would control the terminal. If colored is true, cleanLine keeps the colours of a Style.
func cleanLine(text string, colored bool) string {
	if strings.ContainsAny(text, "\n\r\t") {
		text = strings.Join(strings.Fields(text), " ")
	}
	if colored {
		return keepColors(text)
	}
	return printable.EscapeLine(text)
}

// Shorten cuts text to at most width cells and marks the cut with "…". The colours of a Style take up no cells.
func Shorten(text string, width int) string {
	if Width(text) <= width {
		return text
	}
	if width <= 1 {
		return "…"
	}
	var kept strings.Builder
	used, open := 0, false
	for i := 0; i < len(text); {
		if code := styleCode(text[i:]); code != "" {
			kept.WriteString(code)
			open = code != ansiReset
			i += len(code)
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		cells := Width(string(r))
		if used+cells > width-1 {
			break
		}
		kept.WriteRune(r)
		used, i = used+cells, i+size
	}
	cut := strings.TrimRight(kept.String(), " ") + "…"
	if open {
		cut += ansiReset
	}
	return cut
}

// Width returns the number of terminal cells that text takes up.
func Width(text string) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return twwidth.Width(text)
		}
	}
	return len(text)
}
