// Package figures keeps what benchmarks measured: a CSV file from which the table
// and the plots of docs/performance.md are made.
package figures

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Better says which way a line should go.
type Better string

// The ways.
const (
	Higher Better = "higher"
	Lower  Better = "lower"
)

// Line is one thing that is measured.
type Line struct {
	Name, What string
	Unit       string // empty: a plain number
	Better     Better
	// Floor fails the benchmark, Aim is where it should be.
	Floor, Aim float64
}

// Missed says whether a value is on the wrong side of the floor.
func (l Line) Missed(value float64) bool {
	return l.Better == Higher && value < l.Floor || l.Better == Lower && value > l.Floor
}

// Figure is the median of some rounds, with the extremes.
type Figure struct {
	Line                   string
	Nodes                  int
	Value, Lowest, Highest float64
}

// Row is a figure with what its line says.
type Row struct {
	Line
	Figure Figure
}

var header = []string{"line", "nodes", "value", "lowest", "highest", "unit", "better", "floor", "aim", "what"}

// Keep writes figures into a file in place of older ones of the same line and
// number of nodes. The order is that of lines; what is none of them comes last.
func Keep(path string, lines []Line, taken []Figure) error {
	rows, err := Read(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, f := range taken {
		row := Row{Line: Line{Name: f.Line}, Figure: f}
		if i := slices.IndexFunc(lines, func(l Line) bool { return l.Name == f.Line }); i >= 0 {
			row.Line = lines[i]
		}
		same := func(r Row) bool { return r.Figure.Line == f.Line && r.Figure.Nodes == f.Nodes }
		rows = append(slices.DeleteFunc(rows, same), row)
	}
	order := func(r Row) int {
		if i := slices.IndexFunc(lines, func(l Line) bool { return l.Name == r.Name }); i >= 0 {
			return i
		}
		return len(lines)
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), strings.Compare(a.Name, b.Name), cmp.Compare(a.Figure.Nodes, b.Figure.Nodes))
	})
	return write(path, rows)
}

func write(path string, rows []Row) error {
	var b strings.Builder
	w := csv.NewWriter(&b)
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	records := [][]string{header}
	for _, r := range rows {
		f := r.Figure
		records = append(records, []string{f.Line, strconv.Itoa(f.Nodes), number(f.Value), number(f.Lowest), number(f.Highest),
			r.Unit, string(r.Better), number(r.Floor), number(r.Aim), r.What})
	}
	if err := w.WriteAll(records); err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil { //nolint:gosec // a document
		return fmt.Errorf("figures: %w", err)
	}
	return nil
}

// Read reads what Keep wrote.
func Read(path string) ([]Row, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("figures: %w", err)
	}
	if len(records) == 0 || !slices.Equal(records[0], header) {
		return nil, fmt.Errorf("figures: %s does not begin with %s", path, strings.Join(header, ","))
	}
	var rows []Row
	for i, r := range records[1:] {
		nodes, err := strconv.Atoi(r[1])
		if err != nil {
			return nil, fmt.Errorf("figures: %s, line %d: nodes: %w", path, i+2, err)
		}
		var numbers [5]float64
		for k, column := range []int{2, 3, 4, 7, 8} {
			if numbers[k], err = strconv.ParseFloat(r[column], 64); err != nil {
				return nil, fmt.Errorf("figures: %s, line %d: %s: %w", path, i+2, header[column], err)
			}
		}
		rows = append(rows, Row{
			Line:   Line{Name: r[0], What: r[9], Unit: r[5], Better: Better(r[6]), Floor: numbers[3], Aim: numbers[4]},
			Figure: Figure{Line: r[0], Nodes: nodes, Value: numbers[0], Lowest: numbers[1], Highest: numbers[2]},
		})
	}
	return rows, nil
}
