package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/test/bench/figures"
)

// begin and end enclose the table in performance.md.
const (
	begin = "<!-- figures: made by test/bench/plot -->\n"
	end   = "<!-- end of figures -->"
)

var errNoPlace = errors.New("has no place for the table: want the lines\n" + begin + end)

func replaceTable(text []byte, table string) ([]byte, error) {
	before, rest, ok := bytes.Cut(text, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		return nil, errNoPlace
	}
	return bytes.Join([][]byte{before, []byte(begin), []byte(table), []byte(end), after}, nil), nil
}

// names returns the names of the figures in their order, without duplicates.
func names(all []figures.Figure) []string {
	var list []string
	for _, f := range all {
		if !slices.Contains(list, f.Name) {
			list = append(list, f.Name)
		}
	}
	return list
}

func of(all []figures.Figure, name string) []figures.Figure {
	var list []figures.Figure
	for _, f := range all {
		if f.Name == name {
			list = append(list, f)
		}
	}
	return list
}

// markdown returns a table with one row per line and one column per number of nodes. A line without figures has an
// empty row.
func markdown(all []figures.Figure) string {
	columns := []int{}
	for _, f := range all {
		if !slices.Contains(columns, f.Nodes) {
			columns = append(columns, f.Nodes)
		}
	}
	slices.Sort(columns)
	var b strings.Builder
	b.WriteString("| What |")
	for _, nodes := range columns {
		if nodes == 0 {
			b.WriteString(" any number of nodes |")
			continue
		}
		fmt.Fprintf(&b, " %s nodes |", grouped(float64(nodes)))
	}
	b.WriteString(" Floor | Aim |\n|---|" + strings.Repeat("---|", len(columns)+2) + "\n")
	for _, name := range withMissing(names(all)) {
		line := figures.LineOf(name)
		unit := line.Unit
		if taken := of(all, name); len(taken) > 0 {
			unit = taken[0].Unit
		}
		what := strings.TrimSuffix(name, ", "+unit)
		if unit != "" && !slices.Contains(strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == ',' }), unit) {
			what += " (" + unit + ")"
		}
		fmt.Fprintf(&b, "| %s |", what)
		for _, nodes := range columns {
			b.WriteString(" " + cell(of(all, name), line, nodes) + " |")
		}
		fmt.Fprintf(&b, " %s | %s |\n", orNone(line.Floor), orNone(line.Aim))
	}
	return b.String()
}

// withMissing inserts the lines without figures after their predecessors in figures.Lines.
func withMissing(taken []string) []string {
	at := 0
	for _, l := range figures.Lines {
		if i := slices.Index(taken, l.Name); i >= 0 {
			at = i + 1
			continue
		}
		if at < len(taken) && taken[at] == taken[max(at-1, 0)]+figures.InProcessorTime {
			at++
		}
		taken = slices.Insert(taken, at, l.Name)
		at++
	}
	return taken
}

// cell formats a figure. It is bold if the aim is reached, and marked if the floor is missed.
func cell(list []figures.Figure, line figures.Line, nodes int) string {
	for _, f := range list {
		if f.Nodes != nodes {
			continue
		}
		text := grouped(f.Value)
		aim := figures.Line{Better: line.Better, Floor: line.Aim}
		if line.Aim != 0 && !aim.Missed(f.Value) {
			text = "**" + text + "**"
		}
		if line.Missed(f.Value) {
			if fails, _ := figures.Verdict(f); fails {
				return text + " (missed)"
			}
			return text + " (excused)"
		}
		return text
	}
	return ""
}

func orNone(v float64) string {
	if v == 0 {
		return ""
	}
	return grouped(v)
}

// grouped formats a number with three significant digits and separators between thousands.
func grouped(v float64) string {
	if v < 1000 {
		return strconv.FormatFloat(rounded(v), 'f', -1, 64)
	}
	digits := strconv.FormatFloat(rounded(v), 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func rounded(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return r
}

// plainTable returns a table for the terminal.
func plainTable(all []figures.Figure) string {
	width := 0
	for _, f := range all {
		width = max(width, len(f.Name))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s %7s %10s %-12s %8s %8s\n", width, "WHAT", "NODES", "FIGURE", "", "FLOOR", "AIM")
	for _, f := range all {
		line := figures.LineOf(f.Name)
		mark := ""
		if _, text := figures.Verdict(f); text != "" {
			mark = "  " + text
		}
		fmt.Fprintf(&b, "%-*s %7s %10s %-12s %8s %8s%s\n", width, f.Name, grouped(float64(f.Nodes)), grouped(f.Value), f.Unit, orNone(line.Floor), orNone(line.Aim), mark)
	}
	return b.String()
}
