// Package scrontab parses the tables of scrontab. A table contains entries, which consist of five time fields and a
// command, options in #SCRON lines before the entries, and variables.
//
//	In:   the text of a table
//	Out:  entries, each with its schedule, script and options; errors with line numbers
//
// # Invariants
//
//   - All functions are pure. All errors in a table are reported together.
package scrontab

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/directive"
	"github.com/vc-batch/vc/internal/usererror"
)

// Label is the label of a table's CronJobs, and of the ConfigMap that stores the table's text. The value of the label
// is derived from the user's name.
const Label = "vc-batch.dev/scrontab"

// TextKey is the key of the table in its ConfigMap.
const TextKey = "crontab"

// Entry is a command and its schedule.
type Entry struct {
	// Line is the number of the entry's line, starting at 1.
	Line     int
	Schedule string
	Command  string
	// Options are the words of the entry's #SCRON lines.
	Options []directive.Word
	// Variables are the NAME=value settings on the lines before the entry.
	Variables []string
	// Suffix is the suffix of the CronJob's name. It is derived from the content of the entry and is unique within
	// the table.
	Suffix string
}

// macros maps schedule names that cron does not support to schedules.
var macros = map[string]string{
	"@midnight": "0 0 * * *", "@noon": "0 12 * * *", "@elevenses": "0 11 * * *", "@fika": "0 15 * * *", "@teatime": "0 16 * * *",
}

// variable matches a line that sets a variable.
var variable = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$`)

// ParseTable parses the table of a user.
func ParseTable(text, user string) ([]Entry, error) {
	p := &parser{seen: map[string]int{}, user: user}
	number := 0
	for line := range strings.Lines(text) {
		number++
		if err := p.parseLine(strings.TrimSpace(line), number); err != nil {
			p.problems = append(p.problems, err)
		}
	}
	if len(p.options) > 0 {
		p.problems = append(p.problems, usererror.Errorf("add a line with a schedule and a command after the options", "line %d: no entry follows the options", p.options[0].Line))
	}
	return p.entries, errors.Join(p.problems...)
}

// parser holds the state of parsing a table.
type parser struct {
	user      string
	entries   []Entry
	options   []directive.Word
	variables []string
	seen      map[string]int
	problems  []error
}

func (p *parser) parseLine(line string, number int) error {
	if rest, is := strings.CutPrefix(line, "#SCRON"); is {
		words, err := directive.SplitDirective(rest, number)
		p.options = append(p.options, words...)
		return err
	}
	if line == "" || line[0] == '#' {
		return nil
	}
	if set := variable.FindStringSubmatch(line); set != nil {
		p.variables = append(p.variables[:len(p.variables):len(p.variables)], set[1]+"="+strings.Trim(set[2], `"'`))
		return nil
	}
	e := Entry{Line: number, Options: p.options, Variables: p.variables}
	p.options = nil
	var err error
	if e.Schedule, e.Command, err = splitLine(line); err != nil {
		return usererror.Errorf("specify minute, hour, day, month, weekday and a command, for example 0 4 * * * /home/mei/clean.sh, or specify @daily and a command", "line %d: %s", number, err)
	}
	e.Suffix = p.hashSuffix(&e)
	p.entries = append(p.entries, e)
	return nil
}

// splitLine splits a line into schedule and command.
func splitLine(line string) (schedule, command string, err error) {
	fields := 5
	if line[0] == '@' {
		fields = 1
	}
	rest := line
	var words []string
	for range fields {
		word, after, found := cutField(rest)
		if !found {
			return "", "", errors.New("the command is missing")
		}
		words, rest = append(words, word), after
	}
	schedule = strings.Join(words, " ")
	if longhand, is := macros[schedule]; is {
		schedule = longhand
	}
	if schedule == "@reboot" {
		return "", "", errors.New("@reboot is not supported because jobs run on cluster nodes")
	}
	if _, err := batchv1alpha1.ParseSchedule(schedule); err != nil || batchv1alpha1.NamesZone(schedule) {
		return "", "", fmt.Errorf("%q is not a valid schedule", schedule)
	}
	return schedule, rest, nil
}

// cutField splits off the first word of a line.
func cutField(line string) (word, rest string, found bool) {
	end := strings.IndexAny(line, " \t")
	if end < 0 {
		return line, "", false
	}
	rest = strings.TrimLeft(line[end:], " \t")
	return line[:end], rest, rest != ""
}

// hashSuffix returns a hash of the entry's content and of the entry's number among identical entries.
func (p *parser) hashSuffix(e *Entry) string {
	text := strings.Join(append([]string{p.user, e.Schedule, e.BatchScript()}, directive.WordTexts(e.Options)...), "\x00")
	p.seen[text]++
	sum := sha256.Sum256([]byte(text + "\x00" + strconv.Itoa(p.seen[text])))
	return hex.EncodeToString(sum[:4])
}

// BatchScript returns the batch script of an entry.
func (e *Entry) BatchScript() string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# This job is an entry of scrontab.\n")
	for _, set := range e.Variables {
		name, value, _ := strings.Cut(set, "=")
		fmt.Fprintf(&b, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
	}
	return b.String() + e.Command + "\n"
}

// DefaultTitle returns the default name of an entry's jobs, which is the name of the entry's program.
func (e *Entry) DefaultTitle() string {
	return filepath.Base(strings.Fields(e.Command)[0])
}

// ObjectName converts a user name to a valid part of an object name and a valid label value. If the result differs from
// the user name, part of a hash is appended so that different users have different names.
func ObjectName(user string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(user) {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
	}
	name := strings.Trim(b.String(), "-")
	if name == user && name != "" && len(name) <= longestUser {
		return name
	}
	sum := sha256.Sum256([]byte(user))
	return strings.Trim(name[:min(len(name), longestUser)]+"-"+hex.EncodeToString(sum[:4]), "-")
}

// longestUser is the maximum length of a user's name within an object's name.
const longestUser = 40
