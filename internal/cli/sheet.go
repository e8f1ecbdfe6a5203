package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/vc-batch/vc/internal/render"
)

// Sheet is the output of a `view` command for one object: facts, followed by sections.
type Sheet struct {
	Facts    []SheetFact
	Sections []Section
}

// SheetFact is one line of a sheet: a name and a text.
type SheetFact struct{ Name, Text string }

// Section is a titled table, or a titled text printed by Write.
type Section struct {
	Title string
	Table render.Table
	// Write, if set, prints the section instead of Table. width is the number of columns available (0 means
	// unlimited).
	Write func(out io.Writer, width int)
}

// AddFact adds a fact, unless its text is empty.
func (s *Sheet) AddFact(name, text string) {
	if text != "" {
		s.Facts = append(s.Facts, SheetFact{name, text})
	}
}

// AddTable adds a titled table, unless it has no rows.
func (s *Sheet) AddTable(title string, table render.Table) {
	if len(table.Rows) > 0 {
		s.Sections = append(s.Sections, Section{Title: title, Table: table})
	}
}

// factWidth is the minimum width of the fact names.
const factWidth = 13

// PrintTo prints the sheet.
func (s *Sheet) PrintTo(f *Factory) error {
	width := factWidth
	for _, fact := range s.Facts {
		width = max(width, len(fact.Name)+2)
	}
	style := render.Style{Enabled: f.Streams.IsColored()}
	for _, fact := range s.Facts {
		style.WriteWrapped(f.Streams.Out, fmt.Sprintf("%-*s", width, fact.Name+":"), strings.Repeat(" ", width), fact.Text, f.Streams.Width)
	}
	for i := range s.Sections {
		section := &s.Sections[i]
		if section.Write != nil {
			fmt.Fprintf(f.Streams.Out, "\n%s\n", style.Bold(section.Title+":"))
			section.Write(f.Streams.Out, f.Streams.Width)
			continue
		}
		section.Table.MaxWidth = f.Streams.Width
		if err := WriteSection(f, style, section.Title, &section.Table); err != nil {
			return err
		}
	}
	return nil
}

// WriteSection prints a titled table, indented by two spaces.
func WriteSection(f *Factory, style render.Style, title string, table *render.Table) error {
	if _, err := fmt.Fprintf(f.Streams.Out, "\n%s\n", style.Bold(title+":")); err != nil {
		return err
	}
	table.MaxWidth, table.Colored = max(0, table.MaxWidth-2), style.Enabled
	return table.Fprint(&indenter{out: f.Streams.Out})
}

// indenter prefixes every line with two spaces.
type indenter struct{ out io.Writer }

func (i *indenter) Write(text []byte) (int, error) {
	var indented bytes.Buffer
	for line := range bytes.Lines(text) {
		indented.WriteString("  ")
		indented.Write(line)
	}
	_, err := i.out.Write(indented.Bytes())
	return len(text), err
}
