package sacctmgr

import (
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
	"github.com/vc-batch/vc/internal/usererror"
)

// recordedEntity is an entity of the accounting database, which can only be listed.
type recordedEntity struct {
	// name may be abbreviated to its first letters, but not to fewer than least.
	name  string
	least int
	// example is a condition.
	example string
}

// parse parses a command line that lists the entity. condition is called for each condition. isOne is false if the entity
// of the command line is another one.
func (e recordedEntity) parse(words []string, condition func(name, value string) error) (isOne bool, err error) {
	if len(words) < 2 || !getopt.IsAbbreviation(words[1], e.name, e.least) {
		return false, nil
	}
	if verb, ok := findWord(verbs, words[0]); !ok || verb != List {
		return true, usererror.Errorf("use show "+e.name, "%s can only be listed", e.name)
	}
	for _, word := range words[2:] {
		if strings.EqualFold(word, "where") {
			continue
		}
		name, value, hasValue := strings.Cut(word, "=")
		if !hasValue {
			return true, usererror.Errorf("write NAME=value, for example "+e.example, "Unknown condition: %s", word)
		}
		if strings.Trim(value, ", ") == "" {
			return true, usererror.Errorf("specify a value after "+name+"=", "%s is empty", word)
		}
		if err := condition(name, value); err != nil {
			return true, err
		}
	}
	return true, nil
}

// unknownCondition returns the error for a condition that an entity does not have.
func unknownCondition(name, value, known string) error {
	return usererror.Errorf("conditions are "+known, "Unknown condition: %s=%s", name, value)
}

// parsePastTime parses the value of start= or end=.
func parsePastTime(text string, now time.Time, into *time.Time) error {
	at, err := optionvalue.ParseDate(text, now, optionvalue.Past)
	if err != nil {
		return usererror.Errorf("for example 2026-11-21, 2026-11-21T14:00, now-7days or today", "Invalid time: %s", text)
	}
	*into = at
	return nil
}

// checkInterval returns an error if the time between start= and end= is empty.
func checkInterval(from, to time.Time) error {
	if to.IsZero() || from.Before(to) {
		return nil
	}
	return usererror.Errorf("specify a start that is before end", "the time from %s to %s is empty", from.Format(timeformat.Standard), to.Format(timeformat.Standard))
}

// parseRecordedColumns parses the format of a list; an empty format is replaced by standard.
func parseRecordedColumns[T any](format, standard string, fields []tableformat.Field[T]) (tableformat.Columns[T], error) {
	if format == "" {
		format = standard
	}
	columns, err := tableformat.ParseSized(format, fields)
	if err != nil {
		var names []string
		for _, f := range fields {
			names = append(names, f.Names[0])
		}
		slices.Sort(names)
		return nil, usererror.Errorf("columns are "+strings.Join(names, ", "), "%s", err)
	}
	return columns, nil
}
