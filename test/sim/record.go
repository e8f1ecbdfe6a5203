package sim

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// format returns the script as text that parseScript reads. It has one line for the seed, which determines the cluster and
// all delays, and one line for each draw: its time, the name of its kind and its seed. The code of the kind draws all other
// properties of the action from this seed. A minus sign before the time means that the draw is omitted.
func (s *script) format() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d\n", s.seed)
	for i := range s.draws {
		d := &s.draws[i]
		sign := ""
		if d.omitted {
			sign = "-"
		}
		fmt.Fprintf(&b, "%s%s %s %d\n", sign, d.at, d.kind, d.seed)
	}
	return b.String()
}

// parseScript reads a script from text. Empty lines and lines that start with # have no meaning. Errors contain the number
// of the line.
func parseScript(text string) (*script, error) {
	var seed uint64
	var draws []draw
	hasSeed := false
	lines := bufio.NewScanner(strings.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		var err error
		switch {
		case !hasSeed:
			if len(fields) != 2 || fields[0] != "seed" {
				return nil, fmt.Errorf("line %d: %q: the first line must be: seed NUMBER", number, line)
			}
			hasSeed = true
			seed, err = strconv.ParseUint(fields[1], 10, 64)
		default:
			var d draw
			d, err = parseDraw(fields)
			draws = append(draws, d)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %q: %w", number, line, err)
		}
	}
	if !hasSeed {
		return nil, fmt.Errorf("the script has no line: seed NUMBER")
	}
	return newScript(seed, draws), lines.Err()
}

func parseDraw(fields []string) (draw, error) {
	if len(fields) != 3 {
		return draw{}, fmt.Errorf("want a time, a kind of action and a seed")
	}
	at, isOmitted := strings.CutPrefix(fields[0], "-")
	d := draw{kind: fields[1], omitted: isOmitted}
	if findActionKind(d.kind) == nil {
		return draw{}, fmt.Errorf("no file registers actions of kind %q", d.kind)
	}
	var err error
	if d.at, err = time.ParseDuration(at); err != nil {
		return draw{}, err
	}
	d.seed, err = strconv.ParseUint(fields[2], 10, 64)
	return d, err
}
