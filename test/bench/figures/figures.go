// Package figures stores the results of benchmarks. Benchmarks print one line per figure:
//
//	BENCH <tab> name <tab> nodes <tab> value <tab> unit [<tab> lowest <tab> highest]
//
// The figures are stored in a CSV file. The table and the charts of docs/performance.md are generated from it.
package figures

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Figure is the median of several rounds, with the extremes.
type Figure struct {
	Name                   string
	Nodes                  int
	Value, Lowest, Highest float64
	Unit                   string
	// Taken is the time of the measurement in the format TakenAt. It is empty if the figure has not been stored or its
	// time is unknown.
	Taken string
}

// TakenAt is the format of Figure.Taken, in UTC.
const TakenAt = "2006-01-02 15:04"

// String returns the figure in the format that Read parses.
func (f Figure) String() string {
	return strings.Join(append([]string{"BENCH"}, f.fields()...), "\t")
}

func (f Figure) fields() []string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	return []string{f.Name, strconv.Itoa(f.Nodes), number(f.Value), f.Unit, number(f.Lowest), number(f.Highest)}
}

// parse parses the fields of a figure, in the order of String. The extremes may be missing.
func parse(fields []string) (Figure, error) {
	if len(fields) != 4 && len(fields) != 6 {
		return Figure{}, fmt.Errorf("%d fields, want name, nodes, value, unit, lowest, highest", len(fields))
	}
	f := Figure{Name: fields[0], Unit: fields[3]}
	var err error
	if f.Nodes, err = strconv.Atoi(fields[1]); err != nil {
		return Figure{}, fmt.Errorf("nodes: %w", err)
	}
	if f.Value, err = strconv.ParseFloat(fields[2], 64); err != nil {
		return Figure{}, fmt.Errorf("value: %w", err)
	}
	f.Lowest, f.Highest = f.Value, f.Value
	if len(fields) == 6 {
		var err1, err2 error
		f.Lowest, err1 = strconv.ParseFloat(fields[4], 64)
		f.Highest, err2 = strconv.ParseFloat(fields[5], 64)
		if err := cmp.Or(err1, err2); err != nil {
			return Figure{}, fmt.Errorf("lowest and highest: %w", err)
		}
	}
	return f, nil
}

// Read parses the figures in the output of tests. It copies the output to passOn.
func Read(output io.Reader, passOn io.Writer) ([]Figure, error) {
	var all []Figure
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Fprintln(passOn, lines.Text())
		_, text, ok := strings.Cut(lines.Text(), "BENCH\t")
		if !ok {
			continue
		}
		f, err := parse(strings.Split(text, "\t"))
		if err != nil {
			return all, fmt.Errorf("figure %q: %w", text, err)
		}
		all = Put(all, f)
	}
	return all, lines.Err()
}

// Put adds figures and removes older ones with the same name and number of nodes. It sorts them in the order of Lines.
// Figures without a line come last.
func Put(all []Figure, fresh ...Figure) []Figure {
	for _, f := range fresh {
		all = append(slices.DeleteFunc(all, func(o Figure) bool { return o.Name == f.Name && o.Nodes == f.Nodes }), f)
	}
	order := func(f Figure) int {
		name := strings.TrimSuffix(f.Name, InProcessorTime)
		if i := slices.IndexFunc(Lines, func(l Line) bool { return l.Name == name }); i >= 0 {
			return i
		}
		return len(Lines)
	}
	slices.SortStableFunc(all, func(a, b Figure) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), strings.Compare(a.Name, b.Name), cmp.Compare(a.Nodes, b.Nodes))
	})
	return all
}

var header = []string{"name", "nodes", "value", "unit", "lowest", "highest", "taken"}

// Load reads a file that Save wrote. It returns no figures if the file does not exist.
func Load(path string) ([]Figure, error) {
	file, err := os.Open(path) //nolint:gosec // the caller's
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // read only
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("figures: %s: %w", path, err)
	}
	if len(records) == 0 || !slices.Equal(records[0], header) {
		return nil, fmt.Errorf("figures: %s does not begin with %s", path, strings.Join(header, ","))
	}
	var all []Figure
	for i, record := range records[1:] {
		last := len(record) - 1
		f, err := parse(record[:last])
		if err != nil {
			return nil, fmt.Errorf("figures: %s, record %d: %w", path, i+2, err)
		}
		f.Taken = record[last]
		all = append(all, f)
	}
	return all, nil
}

// Save writes figures to a file.
func Save(path string, all []Figure) error {
	var b strings.Builder
	records := [][]string{header}
	for _, f := range all {
		records = append(records, append(f.fields(), f.Taken))
	}
	if err := csv.NewWriter(&b).WriteAll(records); err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	return os.WriteFile(path, []byte(b.String()), 0o644) //nolint:gosec // a document
}
