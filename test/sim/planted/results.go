package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// result is the result of the search for one bug, as the file of results contains it.
type result struct {
	Bug     string  `json:"bug"`
	Change  string  `json:"change"` // hash of the change
	First   int     `json:"first"`
	Seeds   int     `json:"seeds"` // number of seeds that were run; the last one fails if Found is true
	Found   bool    `json:"found"`
	Text    string  `json:"text,omitempty"` // the violation
	Seconds float64 `json:"seconds"`
}

// count returns the number of seeds for people.
func (r *result) count() string {
	switch {
	case r == nil:
		return ""
	case !r.Found:
		return "> " + strconv.Itoa(r.Seeds)
	}
	return strconv.Itoa(r.Seeds)
}

// answers reports whether the result is that of a search with these options.
func (r *result) answers(b *bug, o *options) bool {
	if r.Change != b.hash() || r.First != o.first {
		return false
	}
	if r.Found {
		return r.Seeds <= o.seeds
	}
	return r.Seeds >= o.seeds
}

// readResults returns the usable results of the file of results, by the name of the bug. A missing file has no results.
func readResults(o *options) (map[string]*result, error) {
	results := map[string]*result{}
	if o.results == "" {
		return results, nil
	}
	file, err := os.Open(o.results)
	if errors.Is(err, fs.ErrNotExist) {
		return results, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	known := map[string]*bug{}
	for _, b := range allBugs() {
		known[b.name] = b
	}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		r := &result{}
		if err := json.Unmarshal(lines.Bytes(), r); err != nil {
			return nil, fmt.Errorf("%s: %w; remove the file to start again", o.results, err)
		}
		if b := known[r.Bug]; b != nil && r.answers(b, o) {
			results[r.Bug] = r
		}
	}
	return results, lines.Err()
}

// appendResult adds a result to the file of results.
func appendResult(name string, r *result) error {
	if name == "" {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// progress shows what is running. It is safe for concurrent use.
type progress struct {
	mu      sync.Mutex
	left    int
	running map[string]string // the progress for each bug
}

// report records the progress for a bug, for example the number of seeds.
func (p *progress) report(bug, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[bug] = text
}

// finish prints the result of a bug and ends the report of its progress.
func (p *progress) finish(r *result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left--
	delete(p.running, r.Bug)
	fmt.Fprintf(os.Stderr, "%-42s %6s seeds %5.0f s  %s\n", r.Bug, r.count(), r.Seconds, r.Text)
}

// print prints a line about what is running.
func (p *progress) print() {
	p.mu.Lock()
	defer p.mu.Unlock()
	var texts []string
	for _, bug := range slices.Sorted(maps.Keys(p.running)) {
		texts = append(texts, bug+": "+p.running[bug])
	}
	fmt.Fprintf(os.Stderr, "... %d bugs left; %s\n", p.left, strings.Join(texts, ", "))
}

// printTable prints the bugs and their results as a Markdown table.
func printTable(out io.Writer, bugs []*bug, results map[string]*result) {
	fmt.Fprintln(out, "| bug | kind | change | seeds | violation, or why there is none |\n|---|---|---|---|---|")
	for _, b := range bugs {
		r, text := results[b.name], ""
		switch {
		case r != nil && r.Found:
			text = r.Text
		case b.note != "":
			text = b.note
		case r != nil:
			text = "not found"
		}
		fmt.Fprintf(out, "| %s | %s | %s: `%s` → `%s` | %s | %s |\n", b.name, b.kind, b.file, oneLine(b.old), oneLine(b.new), r.count(), oneLine(text))
	}
}

// oneLine returns a text in one cell of a table.
func oneLine(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// summary counts the results of bugs.
type summary struct {
	found, noted, missed, unknown int
	seeds                         []int // for each found bug, sorted
}

func summarize(bugs []*bug, results map[string]*result) summary {
	var s summary
	for _, b := range bugs {
		switch r := results[b.name]; {
		case r == nil:
			s.unknown++
		case r.Found:
			s.found++
			if r.Seeds > 0 {
				s.seeds = append(s.seeds, r.Seeds)
			}
		case b.note != "":
			s.noted++
		default:
			s.missed++
		}
	}
	slices.Sort(s.seeds)
	return s
}

// String returns the summary in one line.
func (s *summary) String() string {
	text := fmt.Sprintf("%d bugs found, %d not found, %d not found for a known reason", s.found, s.missed, s.noted)
	if s.unknown > 0 {
		text += fmt.Sprintf(", %d without a result", s.unknown)
	}
	if len(s.seeds) > 0 {
		text += fmt.Sprintf("; seeds until the violation: median %d, at most %d", s.seeds[len(s.seeds)/2], s.seeds[len(s.seeds)-1])
	}
	return text
}
