package render

import (
	"bytes"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// DefaultGap is the number of blanks between two columns, kubectl's.
const DefaultGap = 3

// Table is rows of cells under a header, without lines, as kubectl draws them.
// The zero value is an empty table.
type Table struct {
	// Header holds the column titles; it is not printed when NoHeader is set.
	Header []string
	// Rows hold one cell a column.
	Rows [][]string
	// NoHeader leaves the titles away; their width still counts no more.
	NoHeader bool
	// MaxWidth is the width of the terminal in cells; 0 never shortens anything.
	MaxWidth int
	// FreeText says that the last column is free text and may be shortened to
	// fit MaxWidth. No other column is ever shortened.
	FreeText bool
	// Gap is the number of blanks between columns; 0 means DefaultGap.
	Gap int
	// FirstGap is the number of blanks after the first column; 0 means Gap.
	FirstGap int
	// MinWidths are widths that columns have at least, so that rows printed
	// later stay under the header printed first.
	MinWidths []int
}

// Widths returns the width of every column in cells, without the gap.
func (t *Table) Widths() []int {
	widths := append([]int(nil), t.MinWidths...)
	grow := func(cells []string) {
		for column, cell := range cells {
			for len(widths) <= column {
				widths = append(widths, 0)
			}
			widths[column] = max(widths[column], twwidth.Width(cell))
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

// Fprint writes the table. Lines carry no blanks at their end.
func (t *Table) Fprint(out io.Writer) error {
	if len(t.Rows) == 0 && (t.NoHeader || len(t.Header) == 0) {
		return nil
	}
	widths := t.Widths()
	rows := t.Rows
	if t.FreeText && t.MaxWidth > 0 {
		rows = t.shortened(widths)
	}
	header := t.Header
	if t.NoHeader {
		header = nil
	}
	for first := true; first || len(rows) > 0; first = false {
		part := rows[:min(len(rows), maxDrawn)]
		var text bytes.Buffer
		if err := t.draw(&text, header, part, widths); err != nil {
			return err
		}
		if err := writeTrimmed(out, text.Bytes()); err != nil {
			return err
		}
		header, rows = nil, rows[len(part):]
	}
	return nil
}

// maxDrawn is how many rows are drawn at once: drawing takes several times the
// memory of the rows.
const maxDrawn = 500

// shortened returns the rows with the last column cut to what the line has left.
func (t *Table) shortened(widths []int) [][]string {
	last := len(widths) - 1
	room := t.MaxWidth
	for column := range last {
		room -= widths[column] + t.gapAfter(column)
	}
	room = max(room, twwidth.Width("REASON"))
	if widths[last] <= room {
		return t.Rows
	}
	widths[last] = room
	rows := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = row
		if len(row) == last+1 && twwidth.Width(row[last]) > room {
			rows[i] = append(append([]string(nil), row[:last]...), Shorten(row[last], room))
		}
	}
	return rows
}

func (t *Table) gapAfter(column int) int {
	gap := t.Gap
	if gap == 0 {
		gap = DefaultGap
	}
	if column == 0 && t.FirstGap > 0 {
		gap = t.FirstGap
	}
	return gap
}

// draw lets tablewriter lay the cells out: no borders, no lines, left-aligned.
// Every cell is padded to its column first, so that MinWidths hold too.
func (t *Table) draw(out io.Writer, header []string, rows [][]string, widths []int) error {
	padding := make([]tw.Padding, len(widths))
	for column := range widths {
		padding[column] = tw.Padding{Right: strings.Repeat(" ", t.gapAfter(column)), Overwrite: true}
	}
	cells := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoFormat: tw.Off, AutoWrap: tw.WrapNone},
		Alignment:  tw.CellAlignment{Global: tw.AlignLeft},
		Padding:    tw.CellPadding{Global: tw.Padding{Overwrite: true}, PerColumn: padding},
	}
	table := tablewriter.NewTable(out,
		tablewriter.WithConfig(tablewriter.Config{Header: cells, Row: cells, Behavior: tw.Behavior{TrimSpace: tw.Off}}),
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbols(tw.StyleNone),
			Settings: tw.Settings{
				Separators: tw.SeparatorsNone,
				Lines:      tw.LinesNone,
			},
		})),
	)
	if len(header) > 0 {
		table.Header(padded(header, widths))
	}
	for _, row := range rows {
		if err := table.Append(padded(row, widths)); err != nil {
			return err
		}
	}
	return table.Render()
}

func padded(cells []string, widths []int) []string {
	out := make([]string, len(widths))
	for column := range widths {
		var cell string
		if column < len(cells) {
			cell = oneLine(cells[column])
		}
		out[column] = cell + strings.Repeat(" ", max(0, widths[column]-twwidth.Width(cell)))
	}
	return out
}

// oneLine keeps a cell a cell: a line break inside would tear the row apart.
func oneLine(cell string) string {
	if !strings.ContainsAny(cell, "\n\r\t") {
		return cell
	}
	return strings.Join(strings.Fields(cell), " ")
}

func writeTrimmed(out io.Writer, text []byte) error {
	var trimmed bytes.Buffer
	for line := range bytes.Lines(text) {
		trimmed.Write(bytes.TrimRight(line, " \n"))
		trimmed.WriteByte('\n')
	}
	_, err := out.Write(trimmed.Bytes())
	return err
}

// Shorten cuts text to at most width cells and marks the cut with "…".
func Shorten(text string, width int) string {
	if twwidth.Width(text) <= width {
		return text
	}
	if width <= 1 {
		return "…"
	}
	var kept strings.Builder
	used := 0
	for _, r := range text {
		cells := twwidth.Width(string(r))
		if used+cells > width-1 {
			break
		}
		kept.WriteRune(r)
		used += cells
	}
	return strings.TrimRight(kept.String(), " ") + "…"
}

// Width returns how many terminal cells text takes.
func Width(text string) int { return twwidth.Width(text) }
